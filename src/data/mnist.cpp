#include "data/mnist.h"

#include "base/fail.h"
#include "data/idx.h"

namespace bntt {
namespace fs = std::filesystem;
namespace {

constexpr int64_t kLargestSide = 1024;

struct Member {
  std::string name;
  std::vector<std::string> class_names;
};

ImageSet without_images(const Member& member, MapShape shape) {
  return {.shape = shape,
          .classes = static_cast<int64_t>(member.class_names.size()),
          .pixels = {},
          .labels = {},
          .class_names = member.class_names};
}

ImageSet read_split(const Member& member, const fs::path& directory, const std::string& prefix) {
  const fs::path images_path = directory / (prefix + "-images-idx3-ubyte");
  const fs::path labels_path = directory / (prefix + "-labels-idx1-ubyte");
  IdxImages images = read_idx_images(images_path, member.name);
  const IdxArray labels = read_idx(labels_path, 1, member.name);
  const MapShape shape = {1, images.height, images.width};
  if (shape.height > kLargestSide || shape.width > kLargestSide) {
    fail("{}: {} holds images of {}x{} pixels, expected at most {}x{}", member.name,
         images_path.string(), shape.height, shape.width, kLargestSide, kLargestSide);
  }
  if (labels.extents[0] != images.count) {
    fail("{}: {} holds {} labels, expected {}, one for each image of {}", member.name,
         labels_path.string(), labels.extents[0], images.count, images_path.filename().string());
  }
  ImageSet set = without_images(member, shape);
  set.pixels = std::move(images.values);
  set.stored = std::move(images.stored);
  set.labels.reserve(labels.values.size());
  for (const uint8_t label : labels.values) {
    if (label >= set.classes) {
      fail("{}: {} gives image {} the label {}, expected 0 to {}", member.name,
           labels_path.string(), set.size(), label, set.classes - 1);
    }
    set.labels.push_back(label);
  }
  return set;
}

DatasetSplits open_member(const Member& member, const fs::path& directory,
                          const DatasetOptions& options) {
  DatasetSplits splits;
  if (options.need_train) splits.train = read_split(member, directory, "train");
  if (options.need_test) splits.test = read_split(member, directory, "t10k");
  if (!options.need_train) splits.train = without_images(member, splits.test.shape);
  if (!options.need_test) splits.test = without_images(member, splits.train.shape);
  if (splits.train.shape != splits.test.shape) {
    fail("{}: {} has test images of {}x{} pixels, expected {}x{} as in training", member.name,
         directory.string(), splits.test.shape.height, splits.test.shape.width,
         splits.train.shape.height, splits.train.shape.width);
  }
  return splits;
}

}  // namespace

DatasetSplits open_mnist(const fs::path& directory, const DatasetOptions& options) {
  return open_member(
      {.name = "mnist", .class_names = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}},
      directory, options);
}

DatasetSplits open_fashion_mnist(const fs::path& directory, const DatasetOptions& options) {
  return open_member({.name = "fashion-mnist",
                      .class_names = {"T-shirt/top", "trouser", "pullover", "dress", "coat",
                                      "sandal", "shirt", "sneaker", "bag", "ankle boot"}},
                     directory, options);
}

}  // namespace bntt
