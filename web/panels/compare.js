"use strict";

// [section.key, value] of every setting that affects the result. Left out: how often a run was logged, and which algorithm is
// faster on this machine.
function comparableSettings(run) {
  const left = ["run", "train.break_even"];
  return Object.entries(run.settings ?? {}).flatMap(([section, group]) =>
    (typeof group === "object" && group !== null && !Array.isArray(group)
      ? Object.entries(group).map(([key, value]) => [`${section}.${key}`, settingText(value)])
      : [[section, settingText(group)]]).filter(([name]) => !left.includes(section) && !left.includes(name)));
}

// Settings can be compared between networks, or between runs of the same classical method.
const runKind = (run) => run.classical?.title ?? "network";

// For each run, the settings in which the runs of its kind differ: [name, value].
function differingSettings(runs) {
  const all = runs.map((run) => new Map(comparableSettings(run)));
  return runs.map((run, i) => {
    const alike = all.filter((_, j) => runKind(runs[j]) === runKind(run));
    const names = [...new Set(alike.flatMap((settings) => [...settings.keys()]))];
    const differing = names.filter((name) => new Set(alike.map((settings) => settings.get(name))).size > 1);
    return differing.map((name) => [name, all[i].get(name) ?? kDash]);
  });
}

function settingsCell(settings) {
  if (settings.length === 0) return "none";
  return element("span", { class: "differing" }, settings.map(([name, value]) =>
    element("span", {}, element("i", {}, name), ` ${value.length > 40 ? `${value.slice(0, 40)}…` : value}`)));
}

const methodText = (run) => run.classical?.title ?? run.method?.name ?? kDash;

// Several runs side by side, above the selected run.
function drawComparison(parent, runs) {
  const section = slot(parent, "compare", "section", { id: "section-side-by-side" });
  slot(section, "head", "h2").textContent = "Side by side";
  const grid = slot(section, "grid", "div", { class: "grid" });
  const card = (name, title, wide = false) => {
    const box = slot(grid, name, "div", { class: wide ? "card wide" : "card", id: `panel-compare-${name}` });
    slot(box, "title", "h3").textContent = title;
    return slot(box, "body");
  };
  const known = (pick) => runs.some((run) => isNumber(pick(run)));
  const differing = differingSettings(runs);
  const rows = [
    ["test samples measured", (run) => run.exit?.images ?? run.energy?.images, whole],
    ["test accuracy", (run) => testResult(run)?.accuracy, (v, run) => `${percent(v)}${isNumber(run.energy?.images) || !isNumber(v) ? "" : ` of ${whole(testResult(run).images)}`}`],
    ["test accuracy at the end of training", (run) => wholeTest(run)?.accuracy, (v, run) => (isNumber(v) ? `${percent(v)} of ${whole(wholeTest(run).images)}` : kDash)],
    ["features", (run) => run.classical?.features?.count, whole],
    ["time steps", (run) => run.network.steps, whole],
    ["accuracy when leaving early", (run) => proposedExit(run)?.accuracy, (v) => percent(v)],
    ["steps when leaving early", (run) => proposedExit(run)?.exit_step, whole],
    ["loss when leaving early, at most (points)", (run) => proposedExit(run)?.validation_loss_bound, (v) => fixed(v, 2)],
    ["spikes per sample", (run) => run.activity?.spikes_per_image, count],
    ["energy per sample", (run) => run.energy?.measured_pj, energy],
    ["ANN energy / energy", (run) => run.energy?.measured_ratio, times],
    ["ANN energy / energy, paper's form", (run) => run.energy?.paper_ratio, times],
    ["time per sample (ms)", timeOfAllSteps, (v) => significant(v)],
    ["parameters", (run) => run.network.parameters, count],
    ["neurons", (run) => run.network.neurons, count],
  ].filter(([, pick]) => known(pick));
  card("numbers", "Numbers", true).replaceChildren(table(["", ...runs.map((run) => run.name)],
    [["settings that differ", ...differing.map(settingsCell)],
      ["method", ...runs.map(methodText)],
      ...rows.map(([label, pick, show]) => [label, ...runs.map((run) => show(pick(run), run))])], { marks: ["top"] }));

  const onEach = (shown, word, pick) => {
    const counts = shown.map(pick);
    if (!counts.some(isNumber)) return "";
    if (new Set(counts).size === 1) return `On ${whole(counts[0])} ${word} samples.`;
    return `Numbers of ${word} samples: ${shown.map((run, i) => `${run.name} ${whole(counts[i])}`).join(", ")}.`;
  };
  const overlay = (name, title, lines, scales, word, pick) => {
    const shown = runs.filter((run) => lines(run).length > 0);
    if (shown.length === 0) return;
    const sets = shown.map((run) => ({ label: run.name, ...lineLook(runColour(runs.indexOf(run))), data: lines(run) }));
    const body = card(name, title);
    chart(body, name, { type: "line", description: title, data: { datasets: sets }, scales });
    slot(body, "measured", "p", { class: "measured" }).textContent = onEach(shown, word, pick);
  };
  overlay("learning", "Validation accuracy", (run) => xy(run.learning.epochs.map((e) => e.epoch), run.learning.epochs.map((e) => e.validation_accuracy)),
    { x: axis("epoch", { type: "linear", ticks: { precision: 0 } }), y: axis("accuracy (%)") },
    "validation", (run) => run.samples?.validation);
  overlay("minutes", "Validation accuracy over minutes",
    (run) => xy(timedEpochs(run).map((e) => e.seconds / 60), timedEpochs(run).map((e) => e.validation_accuracy)),
    { x: axis("minutes", { type: "linear", min: 0 }), y: axis("accuracy (%)") },
    "validation", (run) => run.samples?.validation);
  const perStep = (run) => {
    const layers = spikingLayers(run);
    const sums = (layers[0]?.spikes_per_step ?? []).map((_, step) => layers.reduce((sum, layer) => sum + layer.spikes_per_step[step], 0));
    return xy(stepsFrom1(sums), sums);
  };
  overlay("spikes", "Spikes of all layers per time step", perStep,
    { x: stepAxis("time step", Math.max(...runs.map((run) => run.network.steps ?? 1))), y: axis("spikes per sample", { min: 0 }) },
    "test", (run) => run.activity?.images);
  overlay("exit", "Accuracy against steps taken", (run) => (run.exit?.sweep || []).map((row) => ({ x: row.exit_step, y: row.accuracy })).sort((a, b) => a.x - b.x),
    { x: axis("exit step", { type: "linear", ticks: { precision: 0 } }), y: axis("accuracy (%)") },
    "test", (run) => run.exit?.images);
  const noise = (events) => (run) => (Boolean(run.robustness?.events) === events ? attackCurve(run, "noise") : []);
  const attacked = (run) => run.robustness?.images;
  overlay("noise", "Accuracy against noise", noise(false), { x: axis("σ of the noise (pixels in 0..1)", { type: "linear" }), y: axis("accuracy (%)") }, "test", attacked);
  overlay("event-noise", "Accuracy against noise", noise(true), { x: axis("share of events removed and added", { type: "linear" }), y: axis("accuracy (%)") }, "test", attacked);
}
