#include "model/readout.h"

namespace bntt {

ReadoutMap::ReadoutMap(const NetworkSpec& spec)
    : votes_(readout_of(spec).votes),
      leak_of_gradient_(readout_of(spec).leak_gradient ? readout_of(spec).leak : 1.0F),
      last_leak_(readout_of(spec).leak_newest ? readout_of(spec).leak : 1.0F),
      last_leak_of_gradient_(readout_of(spec).leak_newest ? leak_of_gradient_ : 1.0F),
      scale_(readout_of(spec).divide_by_steps ? 1.0F / static_cast<float>(spec.steps) : 1.0F) {}

Buffer<float> ReadoutMap::collected(const Buffer<float>& outputs, float factor) const {
  Buffer<float> classes(outputs.size() / votes_);
  for (int64_t i = 0; i < classes.size(); ++i) {
    float sum = outputs[i * votes_];
    for (int64_t vote = 1; vote < votes_; ++vote) sum += outputs[i * votes_ + vote];
    classes[i] = sum * factor;
  }
  return classes;
}

Buffer<float> ReadoutMap::spread(const Buffer<float>& classes, float factor) const {
  Buffer<float> outputs(classes.size() * votes_);
  for (int64_t i = 0; i < outputs.size(); ++i) outputs[i] = classes[i / votes_] * factor;
  return outputs;
}

Buffer<float> ReadoutMap::logits(const Buffer<float>& voltages) const {
  return collected(voltages, last_leak_ * scale_ / static_cast<float>(votes_));
}

Buffer<float> ReadoutMap::step_logits(const Buffer<float>& currents) const {
  return collected(currents, 1.0F / static_cast<float>(votes_));
}

// ∂m_T/∂y_t = λ^(T − t), times λ if the newest current leaks too.
Buffer<float> ReadoutMap::current_gradient(const Buffer<float>& logits_gradient,
                                           int64_t steps) const {
  const Buffer<float> last =
      spread(logits_gradient, last_leak_of_gradient_ * scale_ / static_cast<float>(votes_));
  Buffer<float> result(steps * last.size());
  float kept = 1.0F;
  for (int64_t step = steps - 1; step >= 0; --step, kept *= leak_of_gradient_) {
    for (int64_t i = 0; i < last.size(); ++i) result[step * last.size() + i] = last[i] * kept;
  }
  return result;
}

Buffer<float> ReadoutMap::current_gradient_of_steps(const Buffer<float>& step_gradient) const {
  return spread(step_gradient, 1.0F / static_cast<float>(votes_));
}

}  // namespace bntt
