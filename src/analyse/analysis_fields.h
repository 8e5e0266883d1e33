#pragma once

#include "analyse/activity.h"
#include "analyse/early_exit.h"
#include "analyse/energy.h"
#include "analyse/robustness.h"
#include "base/fields.h"

/// The names of the analysis results in JSON, and of the energy table in TOML. Keys are a contract
/// with the programs that read them: add, never rename.
namespace bntt {

constexpr auto enum_names(SampleExit) {
  return std::array{std::pair{SampleExit::none, "none"},
                    std::pair{SampleExit::confidence, "confidence"},
                    std::pair{SampleExit::margin, "margin"}};
}

constexpr auto enum_names(AttackKind) {
  return std::array{std::pair{AttackKind::noise, "noise"}, std::pair{AttackKind::fgsm, "fgsm"},
                    std::pair{AttackKind::pgd, "pgd"}};
}

template <class Visitor>
void visit_fields(Visitor& visit, TrueNorthTable& table) {
  visit("spike", table.spike, at_least(0));
  visit("step", table.step, at_least(0));
  visit("reference_spikes", table.reference_spikes, above(0));
  visit("reference_steps", table.reference_steps, above(0));
}

template <class Visitor>
void visit_fields(Visitor& visit, EnergyTable& table) {
  visit("name", table.name);
  visit("mac_pj", table.mac_pj, above(0));
  visit("accumulate_pj", table.accumulate_pj, above(0));
  visit("int8_accumulate_pj", table.int8_accumulate_pj, above(0));
  visit("truenorth", table.truenorth);
}

template <class Visitor>
void visit_fields(Visitor& visit, StageEnergy& stage) {
  visit("name", stage.name);
  visit("int8", stage.int8);
  visit("neurons", stage.neurons);
  visit("flops_ann", stage.flops_ann);
  visit("spike_rate", stage.spike_rate);
  visit("flops_snn", stage.flops_snn);
  visit("accumulates", stage.accumulates);
  visit("multiply_accumulates", stage.multiply_accumulates);
  visit("ann_pj", stage.ann_pj);
  visit("paper_pj", stage.paper_pj);
  visit("measured_pj", stage.measured_pj);
}

template <class Visitor>
void visit_fields(Visitor& visit, CpuCost& cost) {
  visit("images", cost.images);
  visit("threads", cost.threads);
  visit("ms_per_image", cost.ms_per_image);
  visit("joules_per_image", cost.joules_per_image);
}

template <class Visitor>
void visit_fields(Visitor& visit, EnergyStudy& study) {
  visit("table", study.table);
  visit("spiking", study.spiking);
  visit("images", study.images);
  visit("steps", study.steps);
  visit("accuracy", study.accuracy);
  visit("spikes_per_image", study.spikes_per_image);
  visit("stages", study.stages);
  visit("ann_pj", study.ann_pj);
  visit("paper_pj", study.paper_pj);
  visit("measured_pj", study.measured_pj);
  visit("paper_ratio", study.paper_ratio);
  visit("measured_ratio", study.measured_ratio);
  visit("truenorth", study.truenorth);
  visit("cpu", study.cpu);
}

template <class Visitor>
void visit_fields(Visitor& visit, ExitPoint& point) {
  visit("exit_step", point.exit_step);
  visit("threshold", point.threshold);
  visit("threshold_above", point.threshold_above);
  visit("threshold_up_to", point.threshold_up_to);
  visit("validation_accuracy", point.validation_accuracy);
  visit("validation_loss", point.validation_loss);
  visit("validation_loss_bound", point.validation_loss_bound);
  visit("accuracy", point.accuracy);
  visit("spikes_per_image", point.spikes_per_image);
  visit("synapse_work", point.synapse_work);
  visit("energy_pj", point.energy_pj);
  visit("ms_per_image", point.ms_per_image);
}

template <class Visitor>
void visit_fields(Visitor& visit, WindowPoint& point) {
  visit("threshold", point.threshold);
  visit("synapse_work", point.synapse_work);
  visit("validation_accuracy", point.validation_accuracy);
}

template <class Visitor>
void visit_fields(Visitor& visit, ExitMethod& method) {
  visit("name", method.name);
  visit("exit_step", method.exit_step);
  visit("gamma_threshold", method.gamma_threshold);
  visit("window_threshold", method.window_threshold);
  visit("sample_exit", method.sample_exit);
  visit("sample_limit", method.sample_limit);
  visit("validation_accuracy", method.validation_accuracy);
  visit("validation_loss", method.validation_loss);
  visit("validation_loss_bound", method.validation_loss_bound);
  visit("accuracy", method.accuracy);
  visit("mean_steps", method.mean_steps);
  visit("synapse_work", method.synapse_work);
  visit("accumulates_per_image", method.accumulates_per_image);
  visit("spikes_per_image", method.spikes_per_image);
  visit("energy_pj", method.energy_pj);
  visit("ms_per_image", method.ms_per_image);
  visit("images_per_second", method.images_per_second);
}

template <class Visitor>
void visit_fields(Visitor& visit, StageWindow& window) {
  visit("name", window.name);
  visit("active", window.active);
}

template <class Visitor>
void visit_fields(Visitor& visit, ExitStudy& study) {
  visit("steps", study.steps);
  visit("first_exit", study.first_exit);
  visit("images", study.images);
  visit("validation_images", study.validation_images);
  visit("timed_images", study.timed_images);
  visit("max_loss", study.max_loss);
  visit("bound_confidence", study.bound_confidence);
  visit("sweep", study.sweep);
  visit("proposed", study.proposed);
  visit("validation_images_needed", study.validation_images_needed);
  visit("window_sweep", study.window_sweep);
  visit("windows", study.windows);
  visit("methods", study.methods);
}

template <class Visitor>
void visit_fields(Visitor& visit, Histogram& histogram) {
  visit("low", histogram.low);
  visit("high", histogram.high);
  visit("counts", histogram.counts);
}

template <class Visitor>
void visit_fields(Visitor& visit, MembraneStatistics& membrane) {
  visit("mean", membrane.mean);
  visit("deviation", membrane.deviation);
  visit("histogram", membrane.histogram);
}

template <class Visitor>
void visit_fields(Visitor& visit, ThresholdAgreement& agreement) {
  visit("same", agreement.same);
  visit("recall", agreement.recall);
  visit("precision", agreement.precision);
  visit("predicted_rate", agreement.predicted_rate);
}

template <class Visitor>
void visit_fields(Visitor& visit, EffectiveThreshold& threshold) {
  visit("positive_gains", threshold.positive_gains);
  visit("spikes_elsewhere", threshold.spikes_elsewhere);
  visit("real_rate", threshold.real_rate);
  visit("median", threshold.median);
  visit("paper", threshold.paper);
  visit("with_mean", threshold.with_mean);
}

template <class Visitor>
void visit_fields(Visitor& visit, StageActivity& stage) {
  visit("name", stage.name);
  visit("neurons", stage.neurons);
  visit("first_step", stage.first_step);
  visit("active_steps", stage.active_steps);
  visit("spikes_per_step", stage.spikes_per_step);
  visit("spike_rate", stage.spike_rate);
  visit("density", stage.density);
  visit("gamma_mean", stage.gamma_mean);
  visit("gamma_magnitude", stage.gamma_magnitude);
  visit("gamma_histograms", stage.gamma_histograms);
  visit("membrane", stage.membrane);
  visit("effective_threshold", stage.effective_threshold);
}

template <class Visitor>
void visit_fields(Visitor& visit, ActivityStudy& study) {
  visit("images", study.images);
  visit("detail_images", study.detail_images);
  visit("steps", study.steps);
  visit("accuracy", study.accuracy);
  visit("spikes_per_image", study.spikes_per_image);
  visit("input_spikes_per_step", study.input_spikes_per_step);
  visit("exit_threshold", study.exit_threshold);
  visit("exit_step", study.exit_step);
  visit("stages", study.stages);
}

template <class Visitor>
void visit_fields(Visitor& visit, AttackPoint& point) {
  visit("strength", point.strength);
  visit("accuracy", point.accuracy);
  visit("loss", point.loss);
  visit("right", point.right);
}

template <class Visitor>
void visit_fields(Visitor& visit, AttackCurve& curve) {
  visit("kind", curve.kind);
  visit("points", curve.points);
}

template <class Visitor>
void visit_fields(Visitor& visit, RobustnessStudy& study) {
  visit("images", study.images);
  visit("spiking", study.spiking);
  visit("events", study.events);
  visit("no_gradient_attacks", study.no_gradient_attacks);
  visit("draws", study.draws);
  visit("pgd_steps", study.pgd_steps);
  visit("clean_accuracy", study.clean_accuracy);
  visit("curves", study.curves);
}

}  // namespace bntt
