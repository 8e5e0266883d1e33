"use strict";

// Several runs side by side, above the run that is looked at.
function drawComparison(parent, runs) {
  const section = slot(parent, "compare", "section");
  slot(section, "head", "h2").textContent = "Side by side";
  const grid = slot(section, "grid", "div", { class: "grid" });
  const card = (name, title, wide = false) => {
    const box = slot(grid, name, "div", { class: wide ? "card wide" : "card", id: `panel-compare-${name}` });
    slot(box, "title", "h3").textContent = title;
    return slot(box, "body");
  };
  const known = (pick) => runs.some((run) => isNumber(pick(run)));
  const rows = [
    ["test accuracy", (run) => testResult(run)?.accuracy, (v) => percent(v)],
    ["time steps", (run) => run.network.steps, whole],
    ["accuracy when leaving early", (run) => proposedExit(run)?.accuracy, (v) => percent(v)],
    ["steps when leaving early", (run) => proposedExit(run)?.exit_step, whole],
    ["spikes per image", (run) => run.activity?.spikes_per_image, count],
    ["energy per image", (run) => run.energy?.measured_pj, energy],
    ["ANN energy / energy", (run) => run.energy?.measured_ratio, times],
    ["ANN energy / energy, paper's form", (run) => run.energy?.paper_ratio, times],
    ["time per image (ms)", (run) => run.energy?.cpu?.ms_per_image, (v) => significant(v)],
    ["parameters", (run) => run.network.parameters, count],
    ["neurons", (run) => run.network.neurons, count],
  ].filter(([, pick]) => known(pick));
  card("numbers", "Numbers", true).replaceChildren(table(["", ...runs.map((run) => run.name)],
    rows.map(([label, pick, show]) => [label, ...runs.map((run) => show(pick(run)))])));

  const overlay = (name, title, lines, scales) => {
    const sets = runs.map((run, i) => ({ label: run.name, ...lineLook(runColour(i)), data: lines(run) })).filter((set) => set.data.length > 0);
    if (sets.length > 0) chart(card(name, title), name, { type: "line", description: title, data: { datasets: sets }, scales });
  };
  overlay("learning", "Validation accuracy", (run) => xy(run.learning.epochs.map((e) => e.epoch), run.learning.epochs.map((e) => e.validation_accuracy)),
    { x: axis("epoch", { type: "linear", ticks: { precision: 0 } }), y: axis("accuracy (%)") });
  const perStep = (run) => {
    const layers = spikingLayers(run);
    const sums = (layers[0]?.spikes_per_step ?? []).map((_, step) => layers.reduce((sum, layer) => sum + layer.spikes_per_step[step], 0));
    return xy(stepsFrom1(sums), sums);
  };
  overlay("spikes", "Spikes of all layers per time step", perStep,
    { x: stepAxis("time step", Math.max(...runs.map((run) => run.network.steps))), y: axis("spikes per image", { min: 0 }) });
  overlay("exit", "Accuracy against steps taken", (run) => (run.exit?.sweep || []).map((row) => ({ x: row.exit_step, y: row.accuracy })).sort((a, b) => a.x - b.x),
    { x: axis("exit step", { type: "linear", ticks: { precision: 0 } }), y: axis("accuracy (%)") });
  overlay("noise", "Accuracy against noise", (run) => attackCurve(run, "noise"),
    { x: axis("σ of the noise", { type: "linear" }), y: axis("accuracy (%)") });
}
