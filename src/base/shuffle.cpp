#include "base/shuffle.h"

#include <array>
#include <numeric>
#include <utility>

#include "base/random.h"

namespace bntt {

std::vector<int64_t> shuffled(int64_t begin, int64_t end, uint64_t seed, uint32_t epoch) {
  std::vector<int64_t> order(static_cast<std::size_t>(end - begin));
  std::iota(order.begin(), order.end(), begin);
  std::array<uint32_t, 4> draws{};
  for (uint32_t done = 0; done + 1 < order.size(); ++done) {
    if (done % 4 == 0) draws = draw4(seed, Purpose::shuffle, {.epoch = epoch, .block = done / 4});
    const auto left = static_cast<uint32_t>(order.size()) - done;
    std::swap(order[done], order[done + uniform_below(draws[done % 4], left)]);
  }
  return order;
}

}  // namespace bntt
