// Runs an event camera's recording step by step until one class is likely enough:
//   stream runs/nmnist 00001.bin
#include <bntt/data/recording.h>

#include <algorithm>
#include <bntt/bntt.hpp>
#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: stream MODEL RECORDING\n"), 2;
  try {
    const bntt::Model model = bntt::Model::load(argv[1]);
    // A camera would deliver one frame after the other; here all of them come from a file.
    const bntt::Batch frames =
        bntt::frames_of(bntt::read_recording_for(model.card(), argv[2]),
                        model.network().spec().input, model.card().input.events);
    bntt::Session session(model, 1);
    std::vector<float> probabilities;
    int64_t label = 0;
    do {
      session.advance(model.encode(frames, session.steps_done(), 1));
      probabilities = session.probabilities();
      label = std::max_element(probabilities.begin(), probabilities.end()) - probabilities.begin();
      std::printf("step %2d: %s, %.1f %%\n", static_cast<int>(session.steps_done()),
                  model.class_name(label).c_str(),
                  100.0 * static_cast<double>(probabilities[label]));
    } while (!session.done() && probabilities[label] < 0.99F);
    std::printf("%s after %d of %d steps\n", model.class_name(label).c_str(),
                static_cast<int>(session.steps_done()),
                static_cast<int>(model.network().spec().steps));
  } catch (const bntt::Error& error) {
    return std::fprintf(stderr, "stream: %s\n", error.what()), 2;
  }
}
