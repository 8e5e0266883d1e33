"use strict";

// Of what training noted at its end and what this report measured, the one with more images.
const testResult = (run) => [run.learning.test, run.activity, run.energy].filter((result) => isNumber(result?.accuracy))
  .reduce((best, result) => (best && best.images >= result.images ? best : result), null);

// [label, value, unit, detail] of everything worth a large number; what is not known is left out.
function headlineNumbers(run) {
  const cards = [];
  const { learning, energy: joules, activity, network } = run;
  const best = Math.max(...(learning?.epochs || []).map((e) => e.validation_accuracy).filter(isNumber));
  const test = testResult(run);
  if (isNumber(test?.accuracy)) {
    cards.push(["Test accuracy", fixed(test.accuracy, 2), "%", `${whole(test.images)} images, all ${network.steps} steps`]);
  } else if (isNumber(best)) {
    cards.push(["Validation accuracy", fixed(best, 2), "%", `best of ${learning.epochs.length} epochs`]);
  }
  const proposed = proposedExit(run);
  if (proposed) {
    const all = run.exit.methods[0]?.accuracy;
    cards.push(["Leaving early", fixed(proposed.accuracy, 2), "%",
      `after ${proposed.exit_step} of ${network.steps} steps; ${percent(all)} with all, on the same ${whole(run.exit.images)} images`]);
  }
  if (isNumber(joules?.measured_ratio)) {
    cards.push(["Energy against an ANN", significant(joules.measured_ratio), "× less",
      `${energy(joules.measured_pj)} per image, ANN ${energy(joules.ann_pj)}`]);
  }
  if (activity) {
    cards.push(["Spikes per image", ...countParts(activity.spikes_per_image),
      `${fixed((100 * activity.spikes_per_image) / (network.neurons * network.active_steps), 1)} % of neuron-steps fire`]);
  }
  if (isNumber(joules?.cpu?.ms_per_image)) {
    cards.push(["Time per image", significant(joules.cpu.ms_per_image), "ms",
      proposed ? `${significant(proposed.ms_per_image)} ms when leaving early` : `${joules.cpu.threads} threads`]);
  }
  if (isNumber(network.parameters)) cards.push(["Parameters", ...countParts(network.parameters),
    `${count(network.neurons)} neurons, ${count(network.macs)} MACs per step`]);
  return cards;
}

function drawHeadline(parent, run) {
  const title = slot(parent, "title", "div", { class: "title" });
  const { network, settings } = run;
  const data = settings?.data?.name;
  title.replaceChildren(
    element("h1", {}, run.name),
    element("p", {}, [
      data, settings?.network ? "own network" : settings?.model?.name, `${network.steps} steps`,
      network.norm, network.propagation && `${network.propagation} propagation`,
    ].filter(Boolean).join(" · ")));
  if (run.missing) title.append(element("p", { class: "missing" }, `Without what needs images: ${run.missing}`));
  slot(parent, "numbers", "div", { class: "numbers" })
    .replaceChildren(...headlineNumbers(run).map((card) => numberCard(...card)));
}
