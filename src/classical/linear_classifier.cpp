#include "classical/linear_classifier.h"

#include <linear.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>

#include "base/check.h"
#include "base/fail.h"

namespace bntt {
namespace {

constexpr int kEnd = -1;  // liblinear's marker after the last entry of a row

int solver_number(SvmSolver solver) {
  switch (solver) {
    case SvmSolver::squared_hinge:
      return L2R_L2LOSS_SVC_DUAL;
    case SvmSolver::hinge:
      return L2R_L1LOSS_SVC_DUAL;
    case SvmSolver::crammer_singer:
      return MCSVM_CS;
  }
  return L2R_L2LOSS_SVC_DUAL;
}

/// liblinear counts features from 1; a bias is one more feature.
void append_row(const SparseFeatures& row, double bias, int64_t features,
                std::vector<feature_node>& nodes) {
  for (const FeatureEntry& entry : row) nodes.push_back({entry.index + 1, entry.value});
  if (bias >= 0.0) nodes.push_back({static_cast<int>(features + 1), bias});
  nodes.push_back({kEnd, 0.0});
}

double bias_of(const LinearClassifier::Settings& settings) {
  return settings.options.bias ? 1.0 : -1.0;
}

}  // namespace

class LinearProblem {
 public:
  /// An entry takes 16 bytes here and 8 in `data`, whose rows are freed as they are copied.
  LinearProblem(LabelledFeatures data, const LinearClassifier::Settings& settings)
      : labels_(data.labels.begin(), data.labels.end()) {
    const double bias = bias_of(settings);
    for (SparseFeatures& row : data.rows) {
      std::vector<feature_node>& nodes = rows_.emplace_back();
      nodes.reserve(row.size() + 2);
      append_row(row, bias, settings.features, nodes);
      SparseFeatures().swap(row);
    }
    for (std::vector<feature_node>& row : rows_) starts_.push_back(row.data());
    given_ = {.l = static_cast<int>(rows_.size()),
              .n = static_cast<int>(settings.features + (bias >= 0.0 ? 1 : 0)),
              .y = labels_.data(),
              .x = starts_.data(),
              .bias = bias};
  }
  LinearProblem(const LinearProblem&) = delete;
  LinearProblem& operator=(const LinearProblem&) = delete;

  const problem& given() const { return given_; }

 private:
  std::vector<double> labels_;
  std::vector<std::vector<feature_node>> rows_;
  std::vector<feature_node*> starts_;
  problem given_{};
};

void LinearClassifier::Free::operator()(model* fitted) const { free_and_destroy_model(&fitted); }

LinearClassifier::LinearClassifier(LabelledFeatures data, const Settings& settings)
    : LinearClassifier(LinearProblem(std::move(data), settings), settings) {}

LinearClassifier::LinearClassifier(const LinearProblem& recordings, const Settings& settings)
    : classes_(settings.classes), bias_(bias_of(settings)), features_(settings.features) {
  parameter wanted{};
  wanted.solver_type = solver_number(settings.options.solver);
  wanted.eps = settings.options.tolerance;
  wanted.C = settings.cost;
  const char* complaint = check_parameter(&recordings.given(), &wanted);
  BNTT_CHECK(complaint == nullptr);
  set_print_string_function([](const char*) {});
  std::srand(static_cast<unsigned>(settings.seed));
  model_.reset(train(&recordings.given(), &wanted));
}

std::vector<double> LinearClassifier::scores(const SparseFeatures& row) const {
  std::vector<feature_node> nodes;
  append_row(row, bias_, features_, nodes);
  const int known = model_->nr_class;
  std::vector<double> values(static_cast<std::size_t>(std::max(known, 1)));
  predict_values(model_.get(), nodes.data(), values.data());
  // A single value separates two classes: positive for the first.
  if (known == 2 && model_->param.solver_type != MCSVM_CS) values[1] = -values[0];
  std::vector<double> scores(static_cast<std::size_t>(classes_),
                             -std::numeric_limits<double>::infinity());
  for (int i = 0; i < known; ++i) scores[model_->label[i]] = values[i];
  return scores;
}

int64_t highest(std::span<const double> scores) {
  return std::ranges::max_element(scores) - scores.begin();
}

ChosenClassifier choose_classifier(LabelledFeatures train, const LabelledFeatures& validation,
                                   const LinearClassifier::Settings& settings,
                                   const std::function<bool(int64_t done, int64_t of)>& fitted) {
  std::vector<double> costs = settings.options.costs;
  std::ranges::sort(costs);
  const auto count = static_cast<int64_t>(costs.size());
  if (count == 0) fail("svm.costs is empty, expected at least one cost");
  if (count > 1 && validation.rows.empty()) {
    fail("svm.costs has {} costs, but there are no validation recordings to choose one with",
         count);
  }
  const LinearProblem recordings(std::move(train), settings);
  std::optional<ChosenClassifier> best;
  std::vector<CostTrial> trials;
  int64_t most = -1;
  for (int64_t i = 0; i < count; ++i) {
    LinearClassifier::Settings of_cost = settings;
    of_cost.cost = costs[i];
    LinearClassifier classifier(recordings, of_cost);
    int64_t right = 0;
    for (std::size_t row = 0; row < validation.rows.size(); ++row) {
      right += highest(classifier.scores(validation.rows[row])) == validation.labels[row] ? 1 : 0;
    }
    if (count > 1) trials.push_back({.cost = costs[i], .right = right});
    if (right > most) {
      most = right;
      best.emplace(ChosenClassifier{std::move(classifier), costs[i], {}});
    }
    if (fitted(i + 1, count)) break;
  }
  best->trials = std::move(trials);
  return std::move(*best);
}

}  // namespace bntt
