#include <cstddef>
#include <cstdint>
#include <vector>

#include "bntt/error.h"
#include "data/image_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  try {
    const bntt::Picture image = bntt::decode_picture({data, size}, "fuzz");
    std::vector<uint8_t> pixels(3 * 16 * 16);
    for (const bntt::Fit fit : {bntt::Fit::crop, bntt::Fit::squeeze}) {
      bntt::fit_image(bntt::view_of(image), {16, 16}, fit, pixels.data());
    }
  } catch (const bntt::Error&) {
  }
  return 0;
}
