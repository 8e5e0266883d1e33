"use strict";

// The report's own measurement, on the same samples as its other numbers; otherwise the result recorded at the end of training.
function testResult(run) {
  const { exit, energy: joules, learning } = run;
  if (isNumber(exit?.methods?.[0]?.accuracy)) return { accuracy: exit.methods[0].accuracy, images: exit.images };
  if (isNumber(joules?.accuracy)) return joules;
  return isNumber(learning.test?.accuracy) ? learning.test : null;
}

// The result at the end of training, if that was on more samples than the report.
const wholeTest = (run) => (isNumber(run.learning.test?.accuracy) && run.learning.test.images > (testResult(run)?.images ?? 0) ? run.learning.test : null);

// [label, value, unit, detail] of each headline number; unknown ones are left out.
function headlineNumbers(run) {
  if (run.classical) return classicalNumbers(run);
  const cards = [];
  const { learning, energy: joules, activity, network } = run;
  const best = Math.max(...(learning?.epochs || []).map((e) => e.validation_accuracy).filter(isNumber));
  const test = testResult(run);
  const all = wholeTest(run);
  if (isNumber(test?.accuracy)) {
    cards.push(["Test accuracy", fixed(test.accuracy, 2), "%",
      `all ${network.steps} steps, ${whole(test.images)} ${sampleWord(run)}${all ? `; ${percent(all.accuracy)} on ${whole(all.images)} at the end of training` : ""}`]);
  } else if (isNumber(best)) {
    cards.push(["Validation accuracy", fixed(best, 2), "%", `best of ${learning.epochs.length} epochs`]);
  }
  const proposed = proposedExit(run);
  if (proposed) {
    cards.push(["Leaving early", fixed(proposed.accuracy, 2), "%",
      `after ${proposed.exit_step} of ${network.steps} steps; costs at most ${fixed(proposed.validation_loss_bound, 2)} points ${confidenceText(run)}`]);
  } else if (run.exit?.sweep?.length) {
    cards.push(["Leaving early", kDash, "", "nothing is proposed; see below for the reason"]);
  }
  if (isNumber(joules?.measured_ratio)) {
    cards.push(["Energy against an ANN", ...lessParts(joules.measured_ratio),
      `${energy(joules.measured_pj)} per ${oneSample(run)}, ANN ${energy(joules.ann_pj)}`]);
  }
  if (activity) {
    cards.push([`Spikes per ${oneSample(run)}`, ...countParts(activity.spikes_per_image),
      `${fixed((100 * activity.spikes_per_image) / (network.neurons * network.active_steps), 1)} % of neuron-steps fire`]);
  }
  const time = timeOfAllSteps(run);
  if (isNumber(time)) {
    cards.push([`Time per ${oneSample(run)}`, significant(time), "ms",
      proposed ? `${significant(proposed.ms_per_image)} ms when leaving early` : `all ${network.steps} steps`]);
  }
  if (isNumber(network.parameters)) cards.push(["Parameters", ...countParts(network.parameters),
    `${count(network.neurons)} neurons, ${count(network.macs)} MACs per step`]);
  return cards;
}

function headlineMeasured(run) {
  const images = run.exit?.images ?? run.energy?.images;
  const timed = run.exit?.timed_images ?? run.energy?.cpu?.images;
  if (!isNumber(images)) return "";
  const threads = run.energy?.cpu?.threads;
  return `Measured on ${firstSamples(run, images)}${isNumber(threads) ? ` with ${counted(threads, "threads")}` : ""}.${timedOn(timed, images)}`;
}

function drawHeadline(parent, run) {
  const title = slot(parent, "title", "div", { class: "title" });
  const { network, settings } = run;
  const data = settings?.data?.name;
  title.replaceChildren(
    element("h1", {}, run.name),
    element("p", {}, [
      data, run.classical && `${run.classical.title}: ${run.classical.source}`,
      settings?.network ? "own network" : settings?.model?.name, isNumber(network.steps) && `${network.steps} steps`,
      network.norm, network.propagation && `${network.propagation} propagation`,
    ].filter(Boolean).join(" · ")));
  if (run.method) {
    title.append(element("p", { class: "method" }, [
      [run.method.name, run.method.source].filter(Boolean).join(", "), run.method.settings].filter(Boolean).join(": ")));
  }
  if (run.missing) title.append(element("p", { class: "missing" }, `Without the analyses that need images: ${run.missing}`));
  slot(parent, "numbers", "div", { class: "numbers" })
    .replaceChildren(...headlineNumbers(run).map((card) => numberCard(...card)));
  slot(parent, "measured", "p", { class: "measured" }).textContent = headlineMeasured(run);
}
