#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>

#include "analysis.h"
#include "base/fail.h"
#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "base/threads.h"
#include "bntt/session.h"
#include "command.h"
#include "data_options.h"
#include "interrupt.h"
#include "model/stopping.h"
#include "predict_inputs.h"
#include "predict_live.h"
#include "report/explanation.h"
#include "report/page.h"

namespace bntt::cli {
namespace {

struct PredictArguments {
  std::string model;
  std::vector<std::string> inputs;
  std::string events;  // one more input, which must be a recording
  bool live = false;
  std::optional<int> port;
  int64_t steps = 0;
  std::optional<double> exit_confidence;
  uint32_t first_sample = 0;
  int64_t top = 3;
  std::string explain;
  int threads = 0;
  bool json = false;
  SensorSize sensor;
};

struct Answer {
  Prediction prediction;
  double milliseconds = 0.0;  ///< of encoding and network
};

Answer answer_for(const Model& model, const Batch& batch, const PredictArguments& arguments) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<Prediction> predictions =
      model.predict(batch, {.steps = arguments.steps,
                            .exit_confidence = arguments.exit_confidence,
                            .count_spikes = true});
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  return {std::move(predictions.front()), time.count()};
}

/// The classes with the largest logits, the largest first.
std::vector<int64_t> first_classes(const Prediction& prediction, int64_t count) {
  std::vector<int64_t> classes(prediction.logits.size());
  std::iota(classes.begin(), classes.end(), 0);
  std::ranges::stable_sort(
      classes, [&](int64_t a, int64_t b) { return prediction.logits[a] > prediction.logits[b]; });
  classes.resize(std::min(classes.size(), static_cast<std::size_t>(count)));
  return classes;
}

Json readable(const std::vector<float>& values) {
  Json list = Json::array();
  for (const float value : values) list.push_back(readable_double(value));
  return list;
}

std::string json_line(const Model& model, const std::string& name, const Answer& answer,
                      int64_t top) {
  const Prediction& prediction = answer.prediction;
  Json best = Json::array();
  for (const int64_t label : first_classes(prediction, top)) {
    best.push_back({{"label", label},
                    {"class", model.class_name(label)},
                    {"probability", readable_double(prediction.probabilities[label])}});
  }
  const Json line{{"name", name},
                  {"label", prediction.label},
                  {"class", model.class_name(prediction.label)},
                  {"top", best},
                  {"logits", readable(prediction.logits)},
                  {"probabilities", readable(prediction.probabilities)},
                  {"steps", prediction.steps},
                  {"spikes", prediction.spikes},
                  {"milliseconds", answer.milliseconds}};
  return line.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string text_line(const Model& model, const std::string& name, const Answer& answer,
                      int64_t top) {
  const Prediction& prediction = answer.prediction;
  std::string classes;
  for (const int64_t label : first_classes(prediction, top)) {
    classes += fmt::format("{}{} {:.1f} %", classes.empty() ? "" : ", ", model.class_name(label),
                           100.0 * static_cast<double>(prediction.probabilities[label]));
  }
  return fmt::format("{}: {}; {} steps, {} spikes, {:.2f} ms", name, classes, prediction.steps,
                     prediction.spikes, answer.milliseconds);
}

// At once: whoever feeds frames through a pipe waits for the answers.
void print_answer(const Model& model, const std::string& name, const Answer& answer,
                  const PredictArguments& arguments) {
  fmt::print("{}\n", (arguments.json ? json_line : text_line)(model, name, answer, arguments.top));
  std::fflush(stdout);
}

/// Runs the sample once more, step by step, for as many steps as the answer took.
void explain(const Model& model, const NamedSample& sample, const Answer& answer,
             const std::filesystem::path& file) {
  const NetworkSpec& spec = model.network().spec();
  const int64_t steps = active_steps_until(spec, answer.prediction.steps);
  Session session(model, 1);
  Explanation explanation(model, sample.batch);
  while (session.steps_done() < steps) {
    session.advance(model.encode(sample.batch, session.steps_done(), 1), explanation.watch());
    explanation.add_answer(session);
  }
  const ExplanationText text{.name = std::filesystem::path(sample.name).filename().string(),
                             .status = "",
                             .facts = {fmt::format("{} spikes", answer.prediction.spikes),
                                       fmt::format("{:.2f} ms", answer.milliseconds)}};
  write_text_atomically(file, report_page(explanation.document(text)));
}

int predict_files(const Model& model, const PredictArguments& arguments) {
  const std::vector<std::filesystem::path> files = sample_files(model, arguments.inputs);
  if (!arguments.explain.empty() && files.size() != 1) {
    fail("--explain: expected one file, not {}", files.size());
  }
  for (std::size_t i = 0; i < files.size() && !interrupted(); ++i) {
    const NamedSample sample = read_sample(model, files[i], arguments.sensor,
                                           arguments.first_sample + static_cast<uint32_t>(i));
    const Answer answer = answer_for(model, sample.batch, arguments);
    print_answer(model, sample.name, answer, arguments);
    if (!arguments.explain.empty()) explain(model, sample, answer, arguments.explain);
  }
  return interrupted() ? kInterrupted : kDone;
}

int predict_frames(const Model& model, const PredictArguments& arguments) {
  if (arguments.inputs.size() > 1) fail("predict: '-' must be the only input");
  if (!arguments.explain.empty()) fail("--explain: expected a file, not standard input");
  read_frames(model, arguments.first_sample, [&](const NamedSample& sample) {
    print_answer(model, sample.name, answer_for(model, sample.batch, arguments), arguments);
    return interrupted();
  });
  return interrupted() ? kInterrupted : kDone;
}

int replay(const Model& model, const PredictArguments& arguments) {
  if (arguments.inputs.size() != 1)
    fail("--live: expected exactly one recording, given with --events");
  return predict_live(model, arguments.inputs.front(),
                      {.sensor = arguments.sensor,
                       .steps = arguments.steps,
                       .exit_confidence = arguments.exit_confidence,
                       .port = arguments.port});
}

int predict(PredictArguments arguments) {
  set_threads(arguments.threads);
  if (!arguments.events.empty()) arguments.inputs.push_back(arguments.events);
  if (arguments.inputs.empty()) fail("predict: no input was given, see bntt predict --help");
  const Model model = Model::load(arguments.model);
  if (!arguments.events.empty() && model.card().input.encoder.kind != EncoderKind::events) {
    fail("--events: the model reads images, not event recordings");
  }
  if (arguments.live) return replay(model, arguments);
  if (!arguments.explain.empty()) prepare_output(arguments.explain);
  catch_interrupts();
  const bool frames = std::ranges::count(arguments.inputs, kStandardInput) > 0;
  return frames ? predict_frames(model, arguments) : predict_files(model, arguments);
}

}  // namespace

void add_predict(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("predict", "Classify pictures or event recordings");
  auto arguments = std::make_shared<PredictArguments>();
  command->add_option("model", arguments->model, "directory of a run, or one .safetensors file")
      ->required();
  command->add_option("input", arguments->inputs,
                      "PNG or JPEG pictures, event recordings, folders of them, or - to read raw "
                      "frames of bytes [y, x, channel] in the model's size from standard input");
  auto* events = command->add_option("--events", arguments->events, "event recording to classify");
  auto* live = command->add_flag("--live", arguments->live,
                                 "replay the recording at its own speed, step by step");
  live->needs(events);
  command
      ->add_option(
          "--port", arguments->port,
          "with --live: also show it on a page on 127.0.0.1 at this port; 0: any free port")
      ->check(CLI::Range(0, 65535))
      ->needs(live);
  command->add_option("--top", arguments->top, "number of classes to print; default: 3")
      ->check(positive())
      ->excludes(live);
  command->add_option("--steps", arguments->steps, "stop after N steps; 0: all")
      ->check(not_negative());
  command
      ->add_option("--exit-confidence", arguments->exit_confidence,
                   "stop when the softmax confidence reaches X")
      ->check(CLI::Range(0.0, 1.0));
  command
      ->add_option("--first-sample", arguments->first_sample,
                   "index of the first sample; random spikes depend on the run's seed and on the "
                   "sample's index")
      ->check(not_negative())
      ->excludes(live);
  command
      ->add_option("--explain", arguments->explain,
                   "write a page that shows which neurons fired when, for one picture or recording")
      ->excludes(live);
  add_sensor_options(*command, arguments->sensor);
  command->add_option("--threads", arguments->threads, "number of threads; 0: one per core")
      ->check(not_negative());
  command->add_flag("--json", arguments->json, "print a line of JSON for each sample")
      ->excludes(live);
  command->footer(
      "Example:\n  bntt predict runs/demo boot.png\n  bntt predict runs/demo photos/ --top 5 "
      "--json\n  bntt predict runs/demo boot.png --exit-confidence 0.95 --explain boot.html\n  "
      "bntt "
      "predict runs/nmnist --events 00001.bin --live --port 8080\n"
      "  ffmpeg -i film.mp4 -vf scale=28:28 -pix_fmt gray -f rawvideo - | bntt predict runs/demo "
      "-");
  command->callback([arguments, &action] { action = [arguments] { return predict(*arguments); }; });
}

}  // namespace bntt::cli
