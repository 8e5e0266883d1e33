#include <fmt/format.h>

#include "base/fail.h"
#include "base/files.h"
#include "data_commands.h"
#include "data_options.h"
#include "progress.h"
#include "report/data_sheet.h"

namespace bntt::cli {
namespace {

struct ShowArguments {
  std::string name;
  std::string directory;
  std::string out;
  std::string split = "test";
  int64_t count = 0;
  int64_t skip = 0;
  int64_t size = 0;
  SensorSize sensor;
  bool spikes = false;
  int64_t steps = 0;
  int64_t seed = 0;
};

constexpr int64_t kImages = 40;
constexpr int64_t kRows = 8;  // of spikes or event frames
constexpr int64_t kFrames = 10;
constexpr int64_t kSpikeSteps = 100;

/// Files are decoded one by one, and their fixed order has all classes early: a few rounds of it
/// are enough. Elsewhere all images are read anyway.
int64_t limit_for(const DatasetInfo& info, int64_t count, int64_t skip) {
  if (!info.resizable) return 0;
  const int64_t classes = info.classes > 0 ? info.classes : count;
  return classes * (skip + 1 + (count + classes - 1) / classes);
}

ImageSet read_samples_of(const ShowArguments& arguments, const DatasetInfo& info, int64_t count,
                         Progress& progress) {
  const bool test = arguments.split == "test";
  const int64_t limit = limit_for(info, count, arguments.skip);
  Rate rate;
  int64_t done_before = 0;
  DatasetOptions options{.need_train = !test,
                         .need_test = test,
                         .limit_train = test ? 0 : limit,
                         .limit_test = test ? limit : 0,
                         .size = arguments.size,
                         .sensor = arguments.sensor};
  if (arguments.steps > 0) options.events.frames = arguments.steps;
  if (arguments.steps == 0) options.events.frames = kFrames;
  options.progress = [&](const std::string& what, int64_t done, int64_t all) {
    rate.add(std::max<int64_t>(0, done - done_before));
    done_before = done;
    progress.bar(what, done, all, fmt::format("{:.0f} samples/s", rate.per_second()),
                 rate.seconds_for(all - done));
  };
  DatasetSplits splits = open_dataset(arguments.name, arguments.directory, options);
  return test ? std::move(splits.test) : std::move(splits.train);
}

int show(const ShowArguments& arguments) {
  const DatasetInfo& info = dataset_info(arguments.name);
  const bool events = info.kind == SampleKind::events;
  if (arguments.spikes && events) {
    fail("{}: --spikes encodes images, but event recordings are spikes already", arguments.name);
  }
  if (arguments.steps > 0 && !arguments.spikes && !events) {
    fail("{}: --steps needs --spikes or a data set of event recordings", arguments.name);
  }
  const bool strips = events || arguments.spikes;
  const int64_t count = arguments.count > 0 ? arguments.count : strips ? kRows : kImages;
  Progress progress;
  const ImageSet set = read_samples_of(arguments, info, count, progress);
  const std::vector<int64_t> samples = spread_over_classes(set, count, arguments.skip);
  if (samples.empty()) {
    fail("{}: {} has no sample left after skipping {} of each class", arguments.name,
         arguments.directory, arguments.skip);
  }
  const std::string title = fmt::format(
      "{}, {} set: {} of {} classes", arguments.name, arguments.split,
      fmt::format("{} {}", samples.size(), events ? "recordings" : "images"), set.classes);
  std::vector<uint8_t> png;
  if (events) {
    png = draw_png(event_sheet(set, samples, title));
  } else if (arguments.spikes) {
    const int64_t steps = arguments.steps > 0 ? arguments.steps : kSpikeSteps;
    png = draw_png(spike_sheet(set, samples, title,
                               {.steps = steps, .seed = static_cast<uint64_t>(arguments.seed)}));
  } else {
    png = draw_png(image_sheet(set, samples, title));
  }
  write_file_atomically(arguments.out, {png});
  progress.line(fmt::format("{}: {} samples", arguments.out, samples.size()));
  return kDone;
}

}  // namespace

void add_data_show(CLI::App& data, Action& action) {
  auto* command = data.add_subcommand(
      "show", "Draw a contact sheet: images with labels, event recordings as frames over time");
  auto arguments = std::make_shared<ShowArguments>();
  command->add_option("name", arguments->name, "name of the data set")->required();
  command->add_option("directory", arguments->directory, "directory of the data set")->required();
  command->add_option("--out", arguments->out, "PNG file to write")->required();
  command->add_option("--split", arguments->split, "test or train")
      ->check(CLI::IsMember({"test", "train"}))
      ->capture_default_str();
  command
      ->add_option(
          "--count", arguments->count,
          fmt::format("number of samples, spread over the classes; default: {}, or {} rows of "
                      "spikes or event frames",
                      kImages, kRows))
      ->check(CLI::Range(1, 10000));
  command->add_option("--skip", arguments->skip, "skip the first N samples of each class")
      ->check(not_negative());
  command->add_option("--size", arguments->size, "height and width; default: the data set's own")
      ->check(positive());
  add_sensor_options(*command, arguments->sensor);
  command->add_flag("--spikes", arguments->spikes,
                    "show the accumulated Poisson spikes of each image beside it");
  command
      ->add_option(
          "--steps", arguments->steps,
          fmt::format("time steps of --spikes (default {}), or frames of a recording (default {})",
                      kSpikeSteps, kFrames))
      ->check(CLI::Range(1, 10000));
  command->add_option("--seed", arguments->seed, "seed of the spikes")->check(not_negative());
  command->footer(
      "Example:\n  bntt data show cifar10 data/cifar10 --out cifar10.png\n"
      "  bntt data show cifar10 data/cifar10 --spikes --out spikes.png\n"
      "  bntt data show nmnist data/nmnist --steps 8 --out events.png\n"
      "  bntt data show event-folder data/mine --out mine.png");
  command->callback([arguments, &action] { action = [arguments] { return show(*arguments); }; });
}

}  // namespace bntt::cli
