#include "classical/methods.h"

#include <chrono>
#include <map>

#include "base/kinds.h"
#include "base/text.h"
#include "base/threads.h"

namespace bntt {
namespace {

constexpr const char* kHatsPaper = "the HATS paper (Sironi et al. 2018), as later papers cite it";

double percent(int64_t part, int64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string predictions_csv(const RecordingStream& stream, const std::vector<int64_t>& labels,
                            const std::vector<int64_t>& answers) {
  const std::vector<std::string>& names = stream.sets().class_names;
  std::string text = "index,file,label,prediction\n";
  for (std::size_t i = 0; i < labels.size(); ++i) {
    text += fmt::format("{},{},{},{}\n", i, csv_field(stream.test_file(static_cast<int64_t>(i))),
                        csv_field(names[labels[i]]),
                        answers[i] < 0 ? "" : csv_field(names[answers[i]]));
  }
  return text;
}

ClassicalDataSummary data_summary(const RecordingStream& stream) {
  return {.name = stream.sets().dataset,
          .classes = stream.sets().class_names,
          .sensor_width = stream.sensor().width,
          .sensor_height = stream.sensor().height,
          .train = stream.train().size(),
          .validation = stream.validation().size(),
          .test = stream.test().size()};
}

ClassicalStudy studied(const ClassicalConfig& config, RecordingStream& stream) {
  const ClassicalMethod& method = classical_method(config.method);
  ClassicalAnswers found = method.run(config, stream);
  const std::vector<int64_t> labels = stream.test_labels();
  Tally counted = tally(labels, found.answers, stream.classes());
  ClassicalStudy study;
  study.predictions = predictions_csv(stream, labels, found.answers);
  study.times.passes = stream.passes();
  study.result = {.method = method.name,
                  .title = method.title,
                  .source = method.source,
                  .data = data_summary(stream),
                  .features = std::move(found.features),
                  .right = counted.right,
                  .accuracy = percent(counted.right, stream.test().size()),
                  .class_balanced = counted.class_balanced(),
                  .validation_accuracy = found.validation_accuracy,
                  .confusion = std::move(counted.confusion),
                  .unanswered = std::move(counted.unanswered),
                  .also = std::move(found.also),
                  .cost = found.cost,
                  .costs = std::move(found.costs),
                  .published = published_score(method.name, stream.sets().dataset),
                  .notes = published_notes(method.name),
                  .maps = std::move(found.maps)};
  if (stream.classes() == 2) {
    std::vector<double> margins;
    for (const std::vector<double>& scores : found.scores) {
      // Both may be infinite.
      margins.push_back(scores[1] == scores[0] ? 0.0 : scores[1] - scores[0]);
    }
    study.result.auc = area_under_roc(margins, labels);
  }
  return study;
}

}  // namespace

const std::vector<ClassicalMethod>& classical_methods() {
  static const std::vector<ClassicalMethod> methods = {
      {"hats", "HATS", "Sironi et al. 2018, Histograms of Averaged Time Surfaces", run_hats},
      {"hots", "HOTS", "Lagorce et al. 2017, a Hierarchy Of event-based Time-Surfaces", run_hots},
      {"hfirst", "HFirst", "Orchard et al. 2015, with the parameters of the author's N-MNIST code",
       run_hfirst},
      {"gabor-snn", "Gabor-SNN-like",
       "our reading of the two-layer network with fixed Gabor filters that the HATS paper names",
       run_gabor_snn},
  };
  return methods;
}

std::vector<std::string> classical_method_names() {
  return kind_names(std::span(classical_methods()));
}

const ClassicalMethod& classical_method(std::string_view name) {
  return find_kind("method", name, std::span(classical_methods()));
}

std::optional<PublishedScore> published_score(std::string_view method, std::string_view dataset) {
  static const std::map<std::pair<std::string, std::string>, double> scores = {
      {{"hfirst", "nmnist"}, 71.2},    {{"hfirst", "dvs-cifar10"}, 7.7},
      {{"hots", "nmnist"}, 80.8},      {{"hots", "dvs-cifar10"}, 27.1},
      {{"gabor-snn", "nmnist"}, 83.7}, {{"gabor-snn", "dvs-cifar10"}, 24.5},
      {{"hats", "nmnist"}, 99.1},      {{"hats", "dvs-cifar10"}, 52.4}};
  const auto found = scores.find({std::string(method), std::string(dataset)});
  if (found == scores.end()) return std::nullopt;
  return PublishedScore{.accuracy = found->second, .source = kHatsPaper};
}

std::vector<std::string> published_notes(std::string_view method) {
  if (method == "hats") {
    return {
        "No public code is known to reach 52.4 % on DVS-CIFAR10; an independent one reports "
        "45.1 %, and 98.3 % on N-MNIST."};
  }
  if (method == "hots") {
    return {
        "The published numbers probably come from a linear SVM on the histograms, not from "
        "the distances of the HOTS paper."};
  }
  if (method == "hfirst") {
    return {
        "31.0 % on DVS-CIFAR10, often quoted for HFirst, is probably not HFirst's: it is "
        "labelled as a random forest's, and the HATS paper lists HFirst at 7.7 %.",
        "The author's code for N-MNIST reaches 76.4 %, mean over the classes, and 61.3 % as "
        "the share of right spikes."};
  }
  return {
      "The network behind the published numbers was never described in detail: they cannot "
      "be matched exactly."};
}

std::optional<ClassicalStudy> study_classical(const ClassicalConfig& config,
                                              const ClassicalProgress& progress) {
  const auto start = std::chrono::steady_clock::now();
  RecordingStream stream(config, progress);
  try {
    ClassicalStudy study = studied(config, stream);
    study.times.threads = threads();
    study.times.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return study;
  } catch (const StudyStopped&) {
    return std::nullopt;
  }
}

}  // namespace bntt
