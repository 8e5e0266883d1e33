#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "bntt/batch.h"
#include "bntt/model.h"
#include "bntt/session.h"

namespace bntt {

/// Text about a sample, in addition to the network's activity.
struct ExplanationText {
  std::string name;    ///< of the sample
  std::string status;  ///< of work in progress; empty if it is done
  std::vector<std::string> facts;
};

/// Records what fires when, for one sample, while a session processes it:
///   session.advance(model.encode(sample, session.steps_done(), 1), explanation.watch());
///   explanation.add_answer(session);
class Explanation {
 public:
  Explanation(Model model, const Batch& sample);

  /// The options with which the session advances; this object must outlive the call.
  AdvanceOptions watch();
  /// To be called after each call of advance.
  void add_answer(const Session& session);

  /// {generator, runs: [], explanation: ...}, for report_page.
  Json document(const ExplanationText& text) const;

  int64_t steps() const { return static_cast<int64_t>(answers_.size()); }
  /// Spikes of hidden neurons in the last step added.
  int64_t spikes_of_last_step() const;

 private:
  Json input_pictures() const;
  Json stage_document(std::size_t stage) const;

  Model model_;
  const Batch& sample_;
  std::vector<Signal> input_;                 // [step]
  std::vector<std::vector<Signal>> outputs_;  // [stage][step]
  std::vector<std::vector<float>> answers_;   // [step]: probabilities
};

}  // namespace bntt
