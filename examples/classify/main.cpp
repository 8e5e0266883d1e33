// Names the object in a picture:
//   classify runs/demo picture.png
#include <bntt/data/picture.h>

#include <bntt/bntt.hpp>
#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: classify MODEL PICTURE\n"), 2;
  try {
    const bntt::Model model = bntt::Model::load(argv[1]);
    const bntt::Picture picture = bntt::read_picture(argv[2]);
    const bntt::Prediction answer = model.predict(picture.images()).front();
    std::printf("%s, %.1f %%\n", model.class_name(answer.label).c_str(),
                100.0 * static_cast<double>(answer.probabilities[answer.label]));
  } catch (const bntt::Error& error) {
    return std::fprintf(stderr, "classify: %s\n", error.what()), 2;
  }
}
