#include "model/declared.h"

#include "model/stage.h"

namespace bntt {

std::vector<DeclaredTensor> declared_tensors(const NetworkSpec& spec) {
  std::vector<DeclaredTensor> tensors;
  const auto add = [&](const std::string& prefix, const auto& declarations) {
    for (const auto& declared : declarations) {
      tensors.push_back({prefix + declared.name, declared.pytorch_shape});
    }
  };
  for (const StagePlan& plan : plan_stages(spec)) {
    const Stage stage(plan, spec.steps, spec.propagation);
    for (const Branch& branch : stage.branches()) {
      add(branch.plan().name + ".", branch.synapse().parameters());
      add(branch.plan().name + ".norm.", branch.norm().parameters());
      add(branch.plan().name + ".norm.", branch.norm().statistics());
    }
    add(plan.name + ".neuron.", stage.neurons().parameters());
  }
  return tensors;
}

}  // namespace bntt
