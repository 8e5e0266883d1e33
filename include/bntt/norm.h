#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "bntt/api.h"
#include "bntt/declaration.h"
#include "bntt/network_spec.h"
#include "bntt/norm_state.h"

namespace bntt {

/// Every norm is an affine map per step (or step and image) and channel, whose coefficients are
/// computed from sums over rows. A row is a group of whole images at one step; rows are split by
/// shape, so sums do not depend on threads. The functions are called for every row and do not check
/// anything: all extents must be at least 1, indices in range, and products must fit into 64 bits.
/// The members of Norm that take a split verify it.
struct RowSplit {
  int64_t steps = 0;           ///< of the window
  int64_t batch = 0;           ///< images
  int64_t pixels = 0;          ///< of one map
  int64_t channels = 0;        ///< of one map
  int64_t images_per_row = 1;  ///< fewer in the last row of a step if the batch is no multiple

  /// Rows at each step.
  int64_t rows_per_step() const { return (batch + images_per_row - 1) / images_per_row; }
  /// Images in a row of a step.
  int64_t images_in(int64_t row) const {
    return row + 1 < rows_per_step() ? images_per_row : batch - row * images_per_row;
  }
  /// Values per channel in a row of a step.
  int64_t samples_in(int64_t row) const { return images_in(row) * pixels; }
  /// Numbers of [step, row, channel].
  int64_t size() const { return steps * rows_per_step() * channels; }
  /// Index of the first channel in [step, row, channel].
  int64_t at(int64_t step, int64_t row) const { return (step * rows_per_step() + row) * channels; }
};

/// Mean and squared deviations of the currents in each row.
struct RowMoments {
  RowSplit split;                    ///< of the currents
  Buffer<float> mean;                ///< [step, row, channel]
  Buffer<float> squared_deviations;  ///< [step, row, channel]
};

/// Σ ∂L/∂y and Σ ∂L/∂y · x̂ in each row.
struct RowGradientSums {
  RowSplit split;                     ///< of the currents
  Buffer<float> gradient;             ///< [row, step, channel]
  Buffer<float> gradient_times_unit;  ///< [row, step, channel]

  /// Index of the first channel in [row, step, channel]; not checked, like RowSplit::at.
  int64_t at(int64_t step, int64_t row) const {
    return (row * split.steps + step) * split.channels;
  }
};

/// ∂L/∂x = scale · ∂L/∂y − slope · x̂ − offset, with the rows of the NormTrace.
struct NormGradient {
  Buffer<float> scale;   ///< [step, row, channel]
  Buffer<float> slope;   ///< [step, row, channel]
  Buffer<float> offset;  ///< [step, row, channel]
};

/// The position of a norm in its network.
struct NormPlace {
  int64_t channels = 1;    ///< of the currents
  int64_t run_steps = 1;   ///< steps of the whole run
  float threshold = 1.0F;  ///< of the stage's neurons
  int64_t branches = 1;    ///< of the stage
};

/// y = gain · x̂ + shift at one step of the run: [channel] each. `shift` is null for norms without
/// one.
struct StepAffine {
  float* gain = nullptr;   ///< γ of the step
  float* shift = nullptr;  ///< β of the step
};
/// The gradient of a StepAffine: [channel] each.
struct StepAffineGradient {
  const float* gain = nullptr;   ///< Σ ∂L/∂y · x̂
  const float* shift = nullptr;  ///< Σ ∂L/∂y
};

/// A norm is a choice of statistics (which samples share a mean and a deviation) and of an affine
/// map (how gain and shift of a step follow from the parameters). It handles steps [first_step,
/// first_step + split.steps) of the run. `parameters` and `statistics` are its own, in the order in
/// which it declares them. Several threads may call its const members, so it keeps no state.
class BNTT_API Norm {
 public:
  /// Not checked: make_norm checks the place before it calls a factory.
  Norm(NormSpec spec, const NormPlace& place) : spec_(std::move(spec)), place_(place) {}
  virtual ~Norm() = default;

  /// γ (`weight`), and β (`bias`) if the spec has a shift: [step, channel] or [channel].
  virtual std::vector<ParameterDeclaration> parameters() const;
  /// Its running statistics.
  virtual std::vector<StatisticDeclaration> statistics() const { return {}; }
  /// Whether each image has its own statistics: rows are then single images, and evaluation needs
  /// moments too.
  virtual bool per_image() const { return false; }
  /// Whether a step whose row of γ is 0 adds nothing and concerns no other step: γ and statistics
  /// are those of each step alone, and there is no shift. Such steps can be switched off.
  virtual bool zero_gain_silences_step() const { return false; }

  /// Mean and inverse deviation of the batch; updates the running statistics. For norms that have
  /// no statistics and are not per_image(), `moments` contains only its split. This and the
  /// functions below throw Error for arguments whose sizes differ from those that the norm
  /// declares.
  virtual NormTrace from_batch(const RowMoments& moments, int64_t first_step,
                               std::span<Statistic> statistics) const = 0;

  /// The same from the running statistics; `moments` is used only by norms that are per_image().
  virtual NormTrace from_running(const RowMoments& moments, int64_t first_step,
                                 std::span<const Statistic> statistics) const = 0;

  /// Fills scale and shift of the trace, both times `factor`.
  void fold(int64_t first_step, std::span<const Parameter> parameters, float factor,
            NormTrace& trace) const;

  /// Returns the coefficients of the gradient; adds to the gradients of the parameters.
  virtual NormGradient backward(const NormTrace& trace, const RowGradientSums& sums,
                                int64_t first_step, NormMode mode,
                                std::span<Parameter> parameters) const = 0;

 protected:
  // A norm outside the library usually derives from BatchNormOverTime or another class of
  // bntt/batch_norms.h and overrides some of these.

  /// Whether every step of the run has its own row of γ and β.
  virtual bool affine_per_step() const { return false; }
  /// Computes gain and shift of a step. Throws Error for a step that does not exist, and unless the
  /// parameters have its row. `result` points to as many numbers as there are channels.
  virtual void affine(int64_t run_step, std::span<const Parameter> parameters,
                      const StepAffine& result) const;
  /// The transpose of affine(). Throws Error like it.
  virtual void add_gradient(int64_t run_step, const StepAffineGradient& gradient,
                            std::span<Parameter> parameters) const;

  bool has_shift() const { return spec_.shift; }        ///< whether there is a β
  int64_t channels() const { return place_.channels; }  ///< of the currents
  /// Start of a step's row in γ, β or running statistics. Throws Error for a step that does not
  /// exist.
  int64_t checked_row(int64_t run_step, bool per_step) const;
  /// The same without the check.
  int64_t row_at(int64_t run_step, bool per_step) const {
    return per_step ? run_step * place_.channels : 0;
  }
  /// [step, channel] or [channel].
  std::vector<int64_t> rows_shape(bool per_step) const;

  NormSpec spec_;    ///< as given to the constructor
  NormPlace place_;  ///< as given to the constructor
};

/// A kind of norm: `make` gets the spec that names it, and its position in the network.
struct NormEntry {
  std::string name;     ///< as in NormSpec::kind
  std::string meaning;  ///< one line for users
  std::function<std::unique_ptr<Norm>(const NormSpec& spec, const NormPlace& place)>
      make;  ///< creates a norm; must not return null
};
/// All norms, including registered ones. The next call of register_norm invalidates the span.
BNTT_API std::span<const NormEntry> norm_table();

/// Adds a caller's norm to the table, for networks that are created or loaded afterwards. Must not
/// be called while other threads use the library, and invalidates what norm_table() returned.
/// Throws Error for a name that is taken or does not consist of lower-case letters, digits and
/// hyphens.
BNTT_API void register_norm(NormEntry entry);

/// Throws Error for an unknown kind, with the nearest known one, for extents below 1, and if the
/// factory returns null. Thread-safe.
BNTT_API std::unique_ptr<Norm> make_norm(const NormSpec& spec, const NormPlace& place);

}  // namespace bntt
