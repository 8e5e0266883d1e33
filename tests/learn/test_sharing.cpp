// Run under ThreadSanitizer too (preset tsan). Every caller computes with one thread of its own:
// OpenMP's runtime is not instrumented, and its barriers would be reported as races.
#include <gtest/gtest.h>

#include <thread>

#include "halves.h"

namespace bntt {
namespace {

using testing::direct_input;
using testing::Halves;
using testing::small_network;

std::vector<float> predicted(const Model& model, const Halves& halves) {
  std::vector<float> logits;
  for (const Prediction& one : model.predict(halves.images())) {
    logits.insert(logits.end(), one.logits.begin(), one.logits.end());
  }
  return logits;
}

std::vector<float> streamed(const Model& model, const Halves& halves) {
  const Batch batch = model.prepare(halves.images());
  Session session(model, batch.size());
  while (!session.done()) session.advance(model.encode(batch, session.steps_done(), 1));
  const Buffer<float> logits = session.logits();
  return {logits.begin(), logits.end()};
}

TEST(SharedModel, PredictsAndStreamsInSeveralThreadsToTheSameBits) {
  const int before = threads();
  set_threads(1);
  const Halves halves(9);
  for (const bool spikes : {true, false}) {
    // A new model each time: the threads meet while weights are laid out for the first time.
    const InputSpec input = spikes ? InputSpec{.seed = 3} : direct_input();
    const Model model(Network(small_network(), 1), {.input = input});
    std::vector<std::vector<float>> found(4);
    std::vector<std::thread> callers;
    for (std::size_t i = 0; i < found.size(); ++i) {
      callers.emplace_back([&, i] {
        set_threads(1);
        found[i] = i % 2 == 0 ? predicted(model, halves) : streamed(model, halves);
      });
    }
    for (std::thread& caller : callers) caller.join();
    const std::vector<float> expected = predicted(model, halves);
    for (const std::vector<float>& logits : found) EXPECT_EQ(logits, expected);
  }
  set_threads(before);
}

}  // namespace
}  // namespace bntt
