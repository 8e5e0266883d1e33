#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/files.h"
#include "data_commands.h"
#include "fetch/get.h"
#include "interrupt.h"
#include "progress.h"

namespace bntt::cli {
namespace {

struct GetArguments {
  std::string name;
  std::string directory;
  std::string from;
  std::string sources;
  bool keep_archives = false;
  int attempts = 5;
};

constexpr uint64_t kLargestSourcesFile = 1U << 20;

DataSource source_of(const GetArguments& arguments) {
  DataSource source = arguments.sources.empty()
                          ? official_source(arguments.name)
                          : source_from_toml(read_text(arguments.sources, kLargestSourcesFile),
                                             arguments.sources, arguments.name);
  return arguments.from.empty() ? source : at_mirror(std::move(source), arguments.from);
}

std::string megabytes(uint64_t bytes) {
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

/// One bar for each file and phase; its rate counts only what this program did.
class GetBar {
 public:
  explicit GetBar(Progress& progress) : progress_(progress) {}

  void show(const GetProgress& now) {
    if (now.file != file_ || now.phase != phase_ || now.done < done_) {
      rate_ = {};
      file_ = now.file;
      phase_ = now.phase;
      done_ = now.done;
    }
    rate_.add(static_cast<int64_t>(now.done - done_));
    done_ = now.done;
    progress_.bar(fmt::format("{} {}", verb(now.phase), now.file), static_cast<int64_t>(now.done),
                  static_cast<int64_t>(now.all),
                  fmt::format("{:.1f} MB/s", rate_.per_second() / 1e6),
                  rate_.seconds_for(static_cast<int64_t>(now.all - std::min(now.all, now.done))));
  }

 private:
  static const char* verb(GetPhase phase) {
    switch (phase) {
      case GetPhase::download:
        return "fetch";
      case GetPhase::verify:
        return "verify";
      default:
        return "unpack";
    }
  }

  Progress& progress_;
  Rate rate_;
  std::string file_;
  GetPhase phase_ = GetPhase::download;
  uint64_t done_ = 0;
};

std::string sentence(const GotFile& file) {
  if (file.already_there) return file.name + ": already there";
  std::string text = file.name + ": ";
  text += file.bytes == 0 ? "verified" : fmt::format("{} fetched", megabytes(file.bytes));
  if (file.resumed_from != 0) {
    text += fmt::format(" ({} of them earlier)", megabytes(file.resumed_from));
  }
  if (file.unpacked_files != 0) text += fmt::format(", {} files unpacked", file.unpacked_files);
  if (file.recorded) {
    text += fmt::format("; its publisher gives no checksum, so {} records this one: {} {}",
                        kRecordedChecksums, digest_name(file.recorded->kind), file.recorded->hex);
  }
  return text;
}

int get(const GetArguments& arguments) {
  const DataSource source = source_of(arguments);
  Progress progress;
  GetBar bar(progress);
  catch_interrupts();
  GetOptions options{.keep_archives = arguments.keep_archives};
  options.download.attempts = arguments.attempts;
  options.progress = [&](const GetProgress& now) {
    bar.show(now);
    return interrupted();
  };
  const GetResult result = get_dataset(source, arguments.directory, options);
  for (const GotFile& file : result.files) progress.line(sentence(file));
  if (result.stopped) {
    progress.line("stopped; run the same command again to continue");
    return kInterrupted;
  }
  if (!source.page.empty()) progress.line("terms and description: " + source.page);
  return kDone;
}

}  // namespace

void add_data_get(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("get",
                                     "Download a data set from its official source, verify and "
                                     "unpack it; continue an interrupted download");
  auto arguments = std::make_shared<GetArguments>();
  command
      ->add_option("name", arguments->name,
                   fmt::format("one of {}", fmt::join(source_names(), ", ")))
      ->required();
  command->add_option("directory", arguments->directory, "directory to put it in")->required();
  command->add_option("--from", arguments->from,
                      "URL of a mirror with the same files under the same names");
  command->add_option("--sources", arguments->sources,
                      "TOML file that describes a source of your own, see docs/getting-data.md");
  command->add_flag("--keep-archives", arguments->keep_archives,
                    "keep archives after unpacking them");
  command
      ->add_option("--attempts", arguments->attempts,
                   "give up after this many connections in a row without a new byte")
      ->check(positive())
      ->capture_default_str();
  command->footer(
      "Example:\n  bntt data get cifar10 data/cifar10\n"
      "  bntt data get mnist data/mnist --from https://mirror.example/mnist");
  command->callback([arguments, &action] { action = [arguments] { return get(*arguments); }; });
}

}  // namespace bntt::cli
