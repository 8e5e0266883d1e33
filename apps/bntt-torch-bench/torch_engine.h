#pragma once

#include <memory>

#include "bench/job.h"
#include "bench/worker.h"

namespace bntt::bench {

/// The work of OurEngine, done by LibTorch.
std::unique_ptr<Engine> make_torch_engine(const Job& job);

}  // namespace bntt::bench
