#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "classical/features.h"

struct model;  // of liblinear

namespace bntt {

/// liblinear's dual solvers: SVM with squared or plain hinge loss, one class against the rest, or
/// Crammer and Singer's for all classes at once. The primal solvers use BLAS, whose sums may depend
/// on the number of threads.
enum class SvmSolver { squared_hinge, hinge, crammer_singer };
constexpr auto enum_names(SvmSolver) {
  return std::array{std::pair{SvmSolver::squared_hinge, "squared-hinge"},
                    std::pair{SvmSolver::hinge, "hinge"},
                    std::pair{SvmSolver::crammer_singer, "crammer-singer"}};
}

struct SvmOptions {
  SvmSolver solver = SvmSolver::squared_hinge;
  /// liblinear's C. Of several, the one with the most right answers on the validation recordings.
  std::vector<double> costs = {0.01, 0.1, 1, 10, 100};
  bool bias = true;
  double tolerance = 0.1;
  bool operator==(const SvmOptions&) const = default;
};

/// The features of recordings, and their labels.
struct LabelledFeatures {
  std::vector<SparseFeatures> rows;
  std::vector<int64_t> labels;
};

class LinearProblem;  // recordings in liblinear's format

class LinearClassifier {
 public:
  struct Settings {
    int64_t features = 0;
    int64_t classes = 0;
    double cost = 1.0;
    SvmOptions options;
    uint64_t seed = 1;
  };
  // One fit at a time: liblinear uses the global random generator of the C library.
  LinearClassifier(LabelledFeatures data, const Settings& settings);
  LinearClassifier(const LinearProblem& recordings, const Settings& settings);

  /// One score per class; the highest is the answer.
  std::vector<double> scores(const SparseFeatures& row) const;

 private:
  struct Free {
    void operator()(model* fitted) const;
  };
  int64_t classes_;
  double bias_;
  int64_t features_;
  std::unique_ptr<model, Free> model_;
};

/// The index of the highest score, the first of equals.
int64_t highest(std::span<const double> scores);

/// How good a cost was.
struct CostTrial {
  double cost = 1.0;
  int64_t right = 0;  ///< right answers on the validation recordings
};

struct ChosenClassifier {
  LinearClassifier classifier;
  double cost = 1.0;
  std::vector<CostTrial> trials;  ///< empty if there was only one cost
};

/// Fits every cost on `train` and keeps the best on `validation`, the smallest of equals. `fitted`
/// is called after each fit and stops the search if it returns true; the result is then the best of
/// the costs so far. Throws Error for several costs without validation recordings.
ChosenClassifier choose_classifier(LabelledFeatures train, const LabelledFeatures& validation,
                                   const LinearClassifier::Settings& settings,
                                   const std::function<bool(int64_t done, int64_t of)>& fitted);

}  // namespace bntt
