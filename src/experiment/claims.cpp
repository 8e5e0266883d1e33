#include <fmt/ranges.h>

#include <algorithm>

#include "base/fail.h"
#include "experiment/result.h"

namespace bntt {
namespace {

constexpr double kSignificant = 0.05;
constexpr const char* kOtherImages = "the two were not measured on the same images";

std::vector<bool> right_of(const Json& answers) {
  std::vector<bool> right;
  for (const char c : answers.at("right").get<std::string>()) right.push_back(c == '1');
  return right;
}

std::string p_text(double p) { return p < 1e-4 ? "p < 0.0001" : fmt::format("p = {:.4f}", p); }

/// The result of each seed: 1 for the claim, -1 against it, 0 neither. All must agree.
Verdict verdict_of(const std::vector<int>& signs) {
  if (signs.empty()) return Verdict::unknown;
  const auto all = [&](int wanted) {
    return std::ranges::all_of(signs, [&](int sign) { return sign == wanted; });
  };
  if (all(1)) return Verdict::confirmed;
  return all(-1) ? Verdict::denied : Verdict::undecided;
}

int sign_of(double value) { return value > 0.0 ? 1 : (value < 0.0 ? -1 : 0); }

class Claims {
 public:
  Claims(const Experiment& experiment, const Source& source)
      : experiment_(experiment),
        source_(source),
        scale_(experiment.scale.at(source.plan.options.scale)) {}

  ResultClaim claim(const ClaimEntry& entry) const {
    ResultClaim result{.text = entry.text};
    switch (entry.subject) {
      case ClaimSubject::accuracy:
        judge_accuracy(entry, result);
        break;
      case ClaimSubject::spikes:
      case ClaimSubject::energy_ratio:
      case ClaimSubject::measured_ratio:
        judge_numbers(entry, result);
        break;
      case ClaimSubject::noise:
        judge_curves(entry, MeasureKind::noise, result);
        break;
      case ClaimSubject::fgsm:
        judge_curves(entry, MeasureKind::fgsm, result);
        break;
      case ClaimSubject::gamma_peak:
        judge_peaks(entry, result);
        break;
    }
    return result;
  }

 private:
  /// The answers of both runs to one measurement, for each seed that has both.
  std::vector<std::pair<Json, Json>> pairs_of(const ClaimEntry& entry,
                                              const Measure& measure) const {
    const std::vector<std::size_t> higher = source_.plan.runs_of(experiment_, entry.higher);
    const std::vector<std::size_t> lower = source_.plan.runs_of(experiment_, entry.lower);
    std::vector<std::pair<Json, Json>> pairs;
    for (std::size_t seed = 0; seed < higher.size(); ++seed) {
      const auto first = source_.lookup(higher[seed], measure);
      const auto second = source_.lookup(lower[seed], measure);
      if (first && second) pairs.emplace_back(*first, *second);
    }
    return pairs;
  }

  // Two networks on the same images: tests whether the difference is more than chance. Only several
  // seeds can tell whether it holds for the methods.
  void judge_accuracy(const ClaimEntry& entry, ResultClaim& result) const {
    std::vector<int> signs;
    std::vector<double> differences;
    double largest_p = 0.0;
    for (const auto& [higher, lower] : pairs_of(entry, answers_measure())) {
      const std::vector<bool> first = right_of(higher);
      const std::vector<bool> second = right_of(lower);
      if (first.size() != second.size()) {
        result.numbers = kOtherImages;
        return;
      }
      const PairedComparison comparison = compare_paired(first, second);
      differences.push_back(comparison.difference());
      largest_p = std::max(largest_p, comparison.p);
      signs.push_back(comparison.p < kSignificant ? sign_of(comparison.difference()) : 0);
    }
    result.verdict = verdict_of(signs);
    if (signs.empty()) return;
    const Spread spread = spread_of(differences);
    result.numbers = fmt::format("{:+.2f} points", spread.mean);
    if (spread.count > 1) {
      result.numbers += fmt::format(" ± {:.2f} over {} seeds", spread.deviation, spread.count);
    }
    result.numbers += ", McNemar " + p_text(largest_p);
  }

  void judge_numbers(const ClaimEntry& entry, ResultClaim& result) const {
    const bool spikes = entry.subject == ClaimSubject::spikes;
    const char* key =
        spikes ? "spikes_per_image"
               : (entry.subject == ClaimSubject::energy_ratio ? "paper_ratio" : "measured_ratio");
    std::vector<int> signs;
    std::vector<double> higher;
    std::vector<double> lower;
    for (const auto& [first, second] :
         pairs_of(entry, spikes ? answers_measure() : energy_measure(scale_))) {
      if (!first.contains(key) || !second.contains(key)) continue;  // nothing fired
      higher.push_back(first[key].get<double>());
      lower.push_back(second[key].get<double>());
      signs.push_back(sign_of(higher.back() - lower.back()));
    }
    result.verdict = verdict_of(signs);
    if (signs.empty()) return;
    const double a = spread_of(higher).mean;
    const double b = spread_of(lower).mean;
    result.numbers = fmt::format("{:.4g} against {:.4g}", a, b);
    if (b > 0.0) result.numbers += fmt::format(", {:.3g} times", a / b);
  }

  // The claim is about every strength: a seed confirms it if the higher run is significantly better
  // at each of them, and denies it if it is significantly worse at one. One of several strengths is
  // worse by chance more often, so p must then be smaller by their number (Bonferroni).
  void judge_curves(const ClaimEntry& entry, MeasureKind kind, ResultClaim& result) const {
    std::vector<int> signs;
    std::vector<std::string> shown;
    for (const auto& [first, second] :
         pairs_of(entry, attack_measure(kind, scale_, entry.strengths))) {
      const Json& a = first.at("curves").at(0).at("points");
      const Json& b = second.at("curves").at(0).at("points");
      if (first.at("images") != second.at("images")) {
        result.numbers = kOtherImages;
        return;
      }
      bool better = true;
      bool worse = false;
      for (std::size_t i = 1; i < a.size(); ++i) {  // the first point is clean
        const PairedComparison comparison = compare_paired(right_of(a[i]), right_of(b.at(i)));
        const double difference = comparison.difference();
        better = better && difference > 0.0 && comparison.p < kSignificant;
        worse = worse || (difference < 0.0 &&
                          comparison.p < kSignificant / static_cast<double>(a.size() - 1));
        shown.push_back(fmt::format("{:+.1f} at {:.3g} ({})", difference,
                                    a[i].at("strength").get<double>(), p_text(comparison.p)));
      }
      signs.push_back(better ? 1 : (worse ? -1 : 0));
    }
    result.verdict = verdict_of(signs);
    if (!shown.empty()) {
      result.numbers = fmt::format("points, McNemar: {}", fmt::join(shown, ", "));
    }
  }

  void judge_peaks(const ClaimEntry& entry, ResultClaim& result) const {
    std::vector<int> signs;
    std::vector<std::string> shown;
    for (const std::size_t run : source_.plan.runs_of(experiment_, entry.higher)) {
      const auto activity = source_.lookup(run, activity_measure(scale_));
      if (!activity) continue;
      std::vector<std::ptrdiff_t> peaks;
      for (const Json& stage : activity->at("stages")) {
        const Json& means = stage.at("gamma_mean");
        if (means.size() < 2) continue;  // no γ, or one for all steps
        const auto first = stage.at("first_step").get<std::ptrdiff_t>();
        const auto end = first + stage.at("active_steps").get<std::ptrdiff_t>();
        const auto largest = std::max_element(means.begin() + first, means.begin() + end);
        peaks.push_back(largest - means.begin() + 1);
        shown.push_back(fmt::format("{} {}", stage.at("name").get<std::string>(), peaks.back()));
      }
      if (peaks.size() < 2) continue;
      const bool rises = std::ranges::is_sorted(peaks) && peaks.back() > peaks.front();
      signs.push_back(rises ? 1 : (peaks.back() <= peaks.front() ? -1 : 0));
    }
    result.verdict = verdict_of(signs);
    if (!shown.empty()) result.numbers = fmt::format("peak steps: {}", fmt::join(shown, ", "));
  }

  const Experiment& experiment_;
  const Source& source_;
  const ScaleEntry& scale_;
};

}  // namespace

std::vector<ResultClaim> gather_claims(const Experiment& experiment, const Source& source) {
  const Claims claims(experiment, source);
  std::vector<ResultClaim> result;
  for (const ClaimEntry& entry : experiment.claims) result.push_back(claims.claim(entry));
  return result;
}

}  // namespace bntt
