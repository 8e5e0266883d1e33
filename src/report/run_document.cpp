#include "report/run_document.h"

#include <fmt/format.h>

#include <map>

#include "analyse/exit_rule.h"
#include "analyse/json.h"
#include "bntt/error.h"
#include "classical/run_files.h"
#include "model/learned_windows.h"
#include "report/classical_document.h"
#include "report/confusions.h"
#include "report/gamma.h"
#include "report/learning.h"
#include "report/samples.h"
#include "toml/toml.h"
#include "train/method_record.h"
#include "train/run_settings.h"
#include "train/run_trainer.h"

namespace bntt {
namespace {
namespace fs = std::filesystem;

std::string run_name(const fs::path& directory) {
  const fs::path whole = fs::absolute(directory).lexically_normal();
  return (whole.has_filename() ? whole : whole.parent_path()).filename().string();
}

// The location of the data is not needed to repeat the run, and a report is often shown to others.
Json settings_document(const RunConfig& config) {
  Json settings = parse_toml(to_toml(config), "settings");
  settings["data"].erase("dir");
  return settings;
}

Json method_document(const RunConfig& config) {
  const MethodRecord method = method_of(config);
  return {{"name", method.name}, {"source", method.source}, {"settings", method.settings}};
}

Json shape_list(const MapShape& shape) { return {shape.channels, shape.height, shape.width}; }

std::string norm_text(const std::string& kind) {
  static const std::map<std::string, std::string> kNames = {
      {"none", "no norm"},     {"bntt", "BNTT"}, {"bn", "standard BN"}, {"bn-time", "BN over time"},
      {"layer", "layer norm"}, {"tdbn", "tdBN"}, {"tebn", "TEBN"}};
  const auto found = kNames.find(kind);
  return found == kNames.end() ? kind : found->second;
}

std::string synapse_text(const StagePlan& plan) {
  std::string text;
  for (const BranchPlan& branch : plan.branches) {
    if (!text.empty()) text += " + ";
    switch (branch.synapse) {
      case SynapseKind::conv:
        text += fmt::format("{0}×{0} conv", branch.geometry.kernel);
        if (branch.geometry.stride > 1) text += fmt::format(" /{}", branch.geometry.stride);
        break;
      case SynapseKind::dense:
        text += "dense";
        break;
      case SynapseKind::identity:
        text += "identity";
        break;
    }
  }
  return text;
}

Json network_document(const Network& network) {
  Json stages = Json::array();
  int64_t weights = 0;
  int64_t parameters = 0;
  int64_t neurons = 0;
  int64_t macs = 0;
  for (const StagePlan& plan : network.stages()) {
    stages.push_back({{"name", plan.name},
                      {"synapse", synapse_text(plan)},
                      {"readout", plan.readout},
                      {"spikes", plan.spikes()},
                      {"input", shape_list(plan.branches.front().input)},
                      {"output", shape_list(plan.output)},
                      {"weights", plan.weights},
                      {"gains", plan.gains},
                      {"neurons", plan.neurons},
                      {"macs", plan.macs}});
    weights += plan.weights;
    parameters += plan.parameters;
    neurons += plan.neurons;
    macs += plan.macs;
  }
  const NetworkSpec& spec = network.spec();
  return {{"steps", spec.steps},
          {"active_steps", active_steps(spec)},
          {"propagation", spec.propagation == Propagation::instant ? "instant" : "delayed"},
          {"precision", network.quantised() ? "int8" : "fp32"},
          {"norm", norm_text(network.stages().front().branches.front().norm.kind)},
          {"weights", weights},
          {"parameters", parameters},
          {"neurons", neurons},
          {"macs", macs},
          {"stages", stages}};
}

/// Which steps of which branch are on, where training has switched some off.
Json windows_document(const Network& network, bool constant_input) {
  Json layers = Json::array();
  for (std::size_t i = 0; i < network.stages().size(); ++i) {
    const StagePlan& plan = network.stages()[i];
    for (std::size_t b = 0; b < plan.branches.size(); ++b) {
      std::vector<bool> active = network.windows().active[i][b];
      for (int64_t step = 0; step < std::ssize(active); ++step) {
        active[step] =
            active[step] && step >= plan.first_step && step < plan.first_step + plan.active_steps;
      }
      layers.push_back({{"name", plan.branches[b].name}, {"stage", plan.name}, {"active", active}});
    }
  }
  return {{"work", work_left(network, network.windows(), constant_input)}, {"layers", layers}};
}

Json unknown_network(const RunConfig& config) {
  const int64_t steps = config.network ? config.network->steps : config.model.steps;
  return {{"steps", steps}, {"stages", Json::array()}};
}

bool has_checkpoint(const RunPaths& paths) {
  return fs::exists(paths.best()) || fs::exists(paths.checkpoint());
}

bool spiking(const Network& network) { return is_spiking(network); }

/// One run with its images, measured part by part.
class Analyses {
 public:
  Analyses(OpenRun run, const AnalysisOptions& options) : run_(std::move(run)), options_(options) {}

  void add_to(Json& document) {
    const Split split = split_training(run_.data.train.size(), run_.config.data.validation);
    document["samples"] = {{"training", split.train.size()},
                           {"validation", split.validation.size()}};
    const AnalysisParts& parts = options_.parts;
    const bool spikes = spiking(run_.network);
    if (parts.energy) add_energy(document);
    if (parts.activity && spikes && !stopped_) add_activity(document);
    if (parts.exit && spikes && !stopped_) add_exit(document);
    if (parts.pictures && !stopped_) add_pictures(document);
    if (parts.robustness && !stopped_) add_robustness(document);
  }

 private:
  std::function<bool(int64_t)> counted(const std::string& what, int64_t images) {
    return [this, what, images](int64_t done) { return tell(what, done, images); };
  }
  bool tell(const std::string& what, int64_t done, int64_t of) {
    stopped_ = stopped_ || (options_.progress && options_.progress(what, done, of));
    return stopped_;
  }

  void add_energy(Json& document) {
    document["energy"] = to_json(study_energy(run_.network, test_sample(run_),
                                              {.progress = counted("energy", run_.test.size())}));
  }

  void add_activity(Json& document) {
    document["activity"] = to_json(study_activity(
        run_.network, test_sample(run_), {.progress = counted("activity", run_.test.size())}));
  }

  void add_exit(Json& document) {
    document["exit"] =
        to_json(study_exit(run_.network, test_sample(run_), validation_sample(run_),
                           {.progress = [this](const std::string& what, int64_t done, int64_t of) {
                             return tell(what, done, of);
                           }}));
  }

  void add_pictures(Json& document) {
    const Sample sample = test_sample(run_);
    const Inference answers =
        infer(run_.network, sample,
              {.keep_trajectory = true, .progress = counted("pictures", run_.test.size())});
    if (stopped_) return;
    const int64_t kept = answers.trajectory.steps;
    std::vector<float> confidence;
    for (std::size_t i = 0; i < answers.predictions.size(); ++i) {
      confidence.push_back(answers.trajectory.confidence[(i + 1) * kept - 1]);
    }
    Json pictures =
        confusions_document(sample, {.predictions = answers.predictions, .confidence = confidence});
    pictures.update(samples_document(run_.network, sample, answers.predictions));
    document["pictures"] = std::move(pictures);
  }

  void add_robustness(Json& document) {
    Sample sample = test_sample(run_);
    if (options_.attack_images > 0) {
      sample.range.end = std::min(sample.range.end, sample.range.begin + options_.attack_images);
    }
    // For events, shares of them; for pixels in 0..1, standard deviations.
    RobustnessOptions options{.noise = {0.1, 0.2, 0.3, 0.4, 0.5},
                              .clip_events = run_.config.data.clip,
                              .progress = [this](const std::string& what, int64_t done,
                                                 int64_t of) { return tell(what, done, of); }};
    if (sample.images.kind == SampleKind::image && !run_.network.quantised()) {
      options.fgsm = options.pgd = {2.0 / 255, 4.0 / 255, 8.0 / 255, 16.0 / 255};
    }
    document["robustness"] = to_json(study_robustness(run_.network, sample, options));
  }

  OpenRun run_;
  const AnalysisOptions& options_;
  bool stopped_ = false;
};

}  // namespace

Json run_outline(const fs::path& directory, const OutlineOptions& options) {
  if (is_classical_run(directory)) {
    Json outline{{"name", run_name(directory)}};
    outline.update(classical_document(read_classical_run({directory})));
    return outline;
  }
  const RunPaths paths{directory};
  const RunConfig config = read_run_settings(paths);
  Json outline{
      {"name", run_name(directory)},           {"method", method_document(config)},
      {"settings", settings_document(config)}, {"learning", learning_document(paths, config)},
      {"network", unknown_network(config)},    {"gamma", Json::array()}};
  if (has_checkpoint(paths)) {
    const Network network = load_run_network(paths, options.weights);
    outline["network"] = network_document(network);
    outline["gamma"] = gamma_document(network);
    if (!network.windows().empty()) {
      outline["learned_windows"] =
          windows_document(network, config.encoder.kind == EncoderKind::direct);
    }
    outline["gamma_exit"] = {{"threshold", options.exit_threshold},
                             {"exit_step", exit_step(network, options.exit_threshold)}};
  }
  return outline;
}

void add_analyses(Json& outline, const fs::path& directory, const AnalysisOptions& options) {
  if (outline.contains("classical")) return;  // measured when it was run
  std::optional<OpenRun> run;
  try {
    run.emplace(open_run(directory,
                         {.data = options.data, .need_validation = true, .limit = options.images}));
  } catch (const Error& error) {
    if (options.data) throw;
    outline["missing"] = error.what();
    return;
  }
  Analyses(std::move(*run), options).add_to(outline);
}

}  // namespace bntt
