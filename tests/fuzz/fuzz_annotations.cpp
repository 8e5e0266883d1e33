#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "base/check.h"
#include "bntt/error.h"
#include "data/event_files.h"
#include "data/image_folders.h"

// Both tables of labels: of Tiny-ImageNet's validation images and of DVS128 Gesture's recordings.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    for (const auto& file : bntt::parse_annotations(text, {"n01", "n02"}, "images", "fuzz")) {
      BNTT_CHECK(std::filesystem::path(file.path).parent_path() == "images" && file.label >= 0 &&
                 file.label < 2);
    }
  } catch (const bntt::Error&) {
  }
  try {
    for (const auto& span : bntt::parse_gesture_labels(text, 11, "fuzz")) {
      BNTT_CHECK(span.label >= 0 && span.label < 11 && span.begin_us < span.end_us);
    }
  } catch (const bntt::Error&) {
  }
  return 0;
}
