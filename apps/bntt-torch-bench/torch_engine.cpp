#include "torch_engine.h"

#include <ATen/autocast_mode.h>
#include <torch/torch.h>

#include "bench/workload.h"
#include "torch/conversion.h"
#include "torch/lean_network.h"

namespace bntt::bench {
namespace {

/// What `with torch.autocast("cpu", dtype=torch.bfloat16)` does in Python.
class Autocast {
 public:
  explicit Autocast(bool wanted) : wanted_(wanted) {
    if (!wanted_) return;
    at::autocast::set_autocast_cpu_dtype(at::kBFloat16);
    at::autocast::set_cpu_enabled(true);
  }
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;
  ~Autocast() {
    if (!wanted_) return;
    at::autocast::clear_cache();
    at::autocast::set_cpu_enabled(false);
  }

 private:
  bool wanted_;
};

at::MemoryFormat memory_format(Layout layout) {
  return layout == Layout::contiguous ? at::MemoryFormat::Contiguous
                                      : at::MemoryFormat::ChannelsLast;
}

class TorchEngine final : public Engine {
 public:
  explicit TorchEngine(const Job& job);

  void warm_up() override;
  void run_unit() override;
  Json report() const override { return Json::object(); }

 private:
  void train(int64_t batch);
  void infer(int64_t first);
  torch::Tensor encode(const torch::Tensor& images, int64_t steps) const;

  Job job_;
  EncoderSpec encoder_;
  torch::Tensor images_;  // [image, channel, y, x], as the encoder wants them
  torch::Tensor labels_;
  std::unique_ptr<LeanNetwork> network_;
  std::unique_ptr<torch::optim::SGD> sgd_;
};

TorchEngine::TorchEngine(const Job& job) : job_(job) {
  at::set_num_threads(static_cast<int>(job.threads));
  const Workload workload = unpack_workload(job.network, job.images);
  encoder_ = workload.encoder;
  const Batch& images = workload.images;
  const Buffer<float> values = encoder_.kind == EncoderKind::poisson_unsigned
                                   ? images.images
                                   : normalise(images, encoder_.normalisation);
  network_ = std::make_unique<LeanNetwork>(workload.network, memory_format(job.torch.layout));
  images_ = to_tensor(values, images.size(), images.shape, torch::kFloat32)
                .squeeze(0)
                .contiguous(network_->layout());
  labels_ = torch::tensor(images.labels);
  sgd_ = std::make_unique<torch::optim::SGD>(
      network_->parameters(), torch::optim::SGDOptions(0.0).momentum(0.9).weight_decay(5e-4));
}

void TorchEngine::warm_up() {
  // The first call of everything, on as few images as batch norm allows.
  if (job_.kind == Kind::train) {
    train(std::min<int64_t>(2, job_.batch));
  } else {
    infer(0);
  }
}

void TorchEngine::run_unit() {
  if (job_.kind == Kind::train) {
    train(job_.batch);
    return;
  }
  for (int64_t first = 0; first < images_per_unit(job_.kind, job_.batch); first += job_.batch) {
    infer(first);
  }
}

torch::Tensor TorchEngine::encode(const torch::Tensor& images, int64_t steps) const {
  if (encoder_.kind == EncoderKind::direct) return images;
  auto sizes = images.sizes().vec();
  const torch::Tensor pixels = images.unsqueeze(0);
  sizes.insert(sizes.begin(), steps);
  const torch::Tensor draws = torch::rand(sizes);
  const torch::Tensor spikes = encoder_.kind == EncoderKind::poisson_unsigned
                                   ? (draws < pixels).to(torch::kFloat32)
                                   : (2.0 * draws <= pixels.abs()) * pixels.sign();
  return spikes.flatten(0, 1).contiguous(network_->layout());
}

void TorchEngine::train(int64_t batch) {
  sgd_->zero_grad();
  torch::Tensor logits;
  {
    const Autocast autocast(job_.torch.precision == Precision::mixed);
    logits =
        network_->forward_training(encode(images_.narrow(0, 0, batch), network_->steps()), batch);
  }
  const torch::Tensor loss =
      torch::cross_entropy_loss(logits.to(torch::kFloat32), labels_.narrow(0, 0, batch));
  loss.backward();
  sgd_->step();
}

void TorchEngine::infer(int64_t first) {
  const torch::NoGradGuard values_only;
  const Autocast autocast(job_.torch.precision == Precision::mixed);
  const torch::Tensor images = images_.narrow(0, first, job_.batch);
  LeanNetwork::State state;
  if (job_.torch.form == Form::folded) {
    const int64_t steps = network_->steps();
    network_->advance(encode(images, steps), job_.batch, 0, steps, state);
  } else {
    for (int64_t step = 0; step < network_->steps(); ++step) {
      network_->advance(encode(images, 1), job_.batch, step, 1, state);
    }
  }
  network_->logits(state);
}

}  // namespace

std::unique_ptr<Engine> make_torch_engine(const Job& job) {
  return std::make_unique<TorchEngine>(job);
}

}  // namespace bntt::bench
