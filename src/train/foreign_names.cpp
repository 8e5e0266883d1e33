#include "train/foreign_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace bntt {
namespace {

constexpr std::array kForeignNames = std::to_array<ForeignName>({
    // neurons
    {"tau", "model.leak", "1 - 1/tau"},
    {"tau_m", "model.leak", "1 - 1/tau"},
    {"tau_mem", "model.leak", "exp(-1/tau), tau in steps"},
    {"beta", "model.leak", ""},
    {"decay", "model.leak", ""},
    {"mem_decay", "model.leak", ""},
    {"leak_mem", "model.leak", ""},
    {"v_threshold", "model.threshold", ""},
    {"v_th", "model.threshold", ""},
    {"vth", "model.threshold", ""},
    {"thresh", "model.threshold", ""},
    {"v_reset", "model.reset", "soft or hard"},
    {"reset_mechanism", "model.reset", "subtract is soft, zero is hard"},
    {"hard_reset", "model.reset", "soft or hard"},
    {"soft_reset", "model.reset", "soft or hard"},
    {"spike_grad", "model.surrogate", ""},
    {"surrogate_function", "model.surrogate", ""},
    {"surrogate_grad", "model.surrogate", ""},
    // network
    {"t", "model.steps", ""},
    {"timesteps", "model.steps", ""},
    {"time_steps", "model.steps", ""},
    {"timestep", "model.steps", ""},
    {"time_step", "model.steps", ""},
    {"num_steps", "model.steps", ""},
    {"n_steps", "model.steps", ""},
    {"time_window", "model.steps", ""},
    {"arch", "model.name", ""},
    {"architecture", "model.name", ""},
    {"net", "model.name", ""},
    {"width_mult", "model.width", ""},
    {"eps", "model.norm_epsilon", ""},
    {"bn_momentum", "model.norm_momentum", ""},
    {"encoding", "encoder.kind", ""},
    // training
    {"lr", "train.learning_rate", ""},
    {"learn_rate", "train.learning_rate", ""},
    {"batch_size", "train.batch", ""},
    {"batchsize", "train.batch", ""},
    {"bs", "train.batch", ""},
    {"num_epochs", "train.epochs", ""},
    {"n_epochs", "train.epochs", ""},
    {"max_epochs", "train.epochs", ""},
    {"wd", "train.weight_decay", ""},
    {"milestones", "train.drops", "fractions of the run"},
    {"lr_decay", "train.drop_factor", ""},
    {"warmup", "train.warmup_epochs", ""},
    {"grad_clip", "train.clip_norm", ""},
    {"max_norm", "train.clip_norm", ""},
    {"amp", "train.precision", "mixed, fp32 or bf16"},
    {"dtype", "train.precision", "mixed, fp32 or bf16"},
    {"random_seed", "train.seed", ""},
    {"manual_seed", "train.seed", ""},
    {"pretrained", "train.from", ""},
    {"log_interval", "run.log_steps", ""},
    {"save_every", "run.checkpoint_steps", ""},
    // data
    {"dataset", "data.name", ""},
    {"root", "data.dir", ""},
    {"data_dir", "data.dir", ""},
    {"data_path", "data.dir", ""},
    {"val_split", "data.validation", ""},
    {"image_size", "data.size", ""},
    {"img_size", "data.size", ""},
    {"cutout", "data.augment_cutout", ""},
    {"horizontal_flip", "data.augment_flip", ""},
});

std::string folded(std::string_view name) {
  std::string text(name);
  std::ranges::transform(text, text.begin(), [](unsigned char c) {
    return c == '-' ? '_' : static_cast<char>(std::tolower(c));
  });
  return text;
}

}  // namespace

std::optional<ForeignName> foreign_name(std::string_view name) {
  const std::string wanted = folded(name);
  const auto* const found = std::ranges::find(kForeignNames, wanted, &ForeignName::name);
  if (found == kForeignNames.end()) return std::nullopt;
  return *found;
}

std::string meant_by_foreign_name(std::string_view name) {
  const std::optional<ForeignName> found = foreign_name(name);
  if (!found) return "";
  const std::string note = found->note.empty() ? "" : fmt::format(" ({})", found->note);
  return fmt::format(", did you mean '{}'{}?", found->key, note);
}

}  // namespace bntt
