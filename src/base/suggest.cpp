#include "base/suggest.h"

#include <algorithm>
#include <cctype>
#include <cstddef>

#include "base/text.h"

namespace bntt {
namespace {

constexpr std::size_t kMaxEdits = 3;
constexpr std::size_t kMinPrefix = 3;

// - for _ and capitals for lower case do not count as typing errors.
char folded(char c) {
  return c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

bool is_prefix(std::string_view part, std::string_view whole) {
  return part.size() >= kMinPrefix && part.size() <= whole.size() &&
         std::equal(part.begin(), part.end(), whole.begin(),
                    [](char a, char b) { return folded(a) == folded(b); });
}

// Insertions, deletions, substitutions and swaps of neighbours.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = folded(a[i - 1]) == folded(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && folded(a[i - 1]) == folded(b[j - 2]) &&
                           folded(a[i - 2]) == folded(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_distance = kMaxEdits + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t longer = std::max(word.size(), candidate.size());
    const std::size_t shorter = std::min(word.size(), candidate.size());
    if (longer - shorter > kMaxEdits) continue;
    const std::size_t allowed = std::clamp<std::size_t>(longer / 3, 1, kMaxEdits);
    const std::size_t distance = edit_distance(word, candidate);
    if (distance <= allowed && distance < std::min(best_distance, longer)) {
      best = candidate;
      best_distance = distance;
    }
  }
  if (!best.empty()) return best;
  std::size_t best_rest = std::string::npos;
  for (const std::string& candidate : candidates) {
    if (!is_prefix(candidate, word) && !is_prefix(word, candidate)) continue;
    const std::size_t rest =
        std::max(word.size(), candidate.size()) - std::min(word.size(), candidate.size());
    if (rest < best_rest) {
      best = candidate;
      best_rest = rest;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string best = nearest(word, candidates);
  return best.empty() ? "" : ", did you mean '" + excerpt(best) + "'?";
}

}  // namespace bntt
