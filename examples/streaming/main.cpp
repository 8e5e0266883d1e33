// A trained network beside a sensor: spikes are fed step by step, and inference stops as soon as
// one class leads clearly.
//   streaming runs/demo/best.safetensors
#include <bntt/error.h>
#include <bntt/load.h>
#include <bntt/session.h>

#include <algorithm>
#include <cstdio>

namespace {

// Stands in for an event camera: one step of spikes at every third pixel, shifted by the step.
bntt::SpikeTrain sensor_step(const bntt::MapShape& shape, int64_t step) {
  bntt::SpikeTrain spikes(1, 1, shape);
  for (int64_t y = 0; y < shape.height; ++y) {
    for (int64_t x = (y + step) % 3; x < shape.width; x += 3) spikes.set(0, 0, 0, y, x, 0);
  }
  return spikes;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: streaming CHECKPOINT.safetensors\n");
    return 2;
  }
  try {
    const bntt::Network network = bntt::load_network(argv[1]);
    bntt::Session session(network, 1);
    bntt::Activity activity;
    float lead = 0.0F;
    int64_t best = 0;
    while (!session.done() && lead < 2.0F) {
      session.advance(sensor_step(network.spec().input, session.steps_done()), &activity);
      const bntt::Buffer<float> logits = session.logits();
      best = std::max_element(logits.begin(), logits.end()) - logits.begin();
      lead = logits[best];
      for (int64_t k = 0; k < logits.size(); ++k) {
        if (k != best) lead = std::min(lead, logits[best] - logits[k]);
      }
    }
    std::printf("class %lld after %lld steps, ahead by %.3f\n", static_cast<long long>(best),
                static_cast<long long>(session.steps_done()), static_cast<double>(lead));
    return 0;
  } catch (const bntt::Error& error) {
    std::fprintf(stderr, "streaming: %s\n", error.what());
    return 2;
  }
}
