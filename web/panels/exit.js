"use strict";

// The row of the sweep that the slider points at; at first the proposed one.
function exitRow(run, view) {
  const sweep = run.exit?.sweep;
  if (!sweep?.length) return run.gamma_exit ?? null;
  return sweep[Math.min(sweep.length - 1, view.exit ?? run.exit.proposed ?? 0)];
}

const proposedExit = (run) => run.exit?.sweep?.[run.exit.proposed];

// What `bntt exit` calls its methods, in words.
const kMethods = {
  "all-steps": "all steps",
  gamma: "γ: the paper's rule",
  confidence: "each image, when confident",
  margin: "each image, by its margin",
  windows: "windows per layer",
  "gamma+confidence": "γ and confidence",
  combined: "windows, γ and confidence",
};
function methodSettings(method) {
  const parts = [];
  if (isNumber(method.gamma_threshold)) parts.push(`γ < ${significant(method.gamma_threshold, 2)}`);
  if (isNumber(method.window_threshold)) parts.push(`window |γ| ≥ ${significant(method.window_threshold, 2)}`);
  if (isNumber(method.sample_limit)) parts.push(`${method.sample_exit} ≥ ${significant(method.sample_limit, 2)}`);
  return parts.join(", ");
}

panels.push({
  id: "exit-slider",
  section: "Leaving early",
  title: "What a threshold costs and saves",
  note: "Inference stops after the last step at which any layer's mean γ reaches the threshold: known before the first image.",
  has: (run) => Boolean(run.exit?.sweep?.length),
  absent: "Needs γ per time step and the test images.",
  draw(body, run, view, redraw) {
    const { sweep } = run.exit;
    const index = sweep.indexOf(exitRow(run, view));
    const control = slot(body, "control", "label", { class: "control" });
    let range = control.querySelector("input");
    if (!range) {
      range = element("input", { type: "range", id: "exit-threshold", min: 0, step: 1, "aria-label": "exit threshold" });
      range.addEventListener("input", () => {
        view.exit = Number(range.value);
        for (const id of ["exit-slider", "exit-curve", "gamma"]) redraw(id);
      });
      control.replaceChildren("γ threshold", range, element("output", {}));
    }
    range.max = sweep.length - 1;
    range.value = index;
    range.setAttribute("aria-valuetext", significant(sweep[index].threshold, 2));
    const row = sweep[index];
    const full = sweep.reduce((a, b) => (b.exit_step > a.exit_step ? b : a));
    control.querySelector("output").textContent = significant(row.threshold, 2);
    const share = (value, of) => (isNumber(value) && isNumber(of) && of > 0 ? `${fixed((100 * value) / of, 0)} % of all steps'` : null);
    slot(body, "numbers", "div", { class: "numbers" }).replaceChildren(
      numberCard("Accuracy", fixed(row.accuracy, 2), "%", points(row.accuracy - full.accuracy)),
      numberCard("Steps", whole(row.exit_step), `of ${run.network.steps}`, index === run.exit.proposed ? "proposed" : null),
      numberCard("Energy", ...energyParts(row.energy_pj), share(row.energy_pj, full.energy_pj)),
      numberCard("Time per image", significant(row.ms_per_image), "ms", share(row.ms_per_image, full.ms_per_image)),
      numberCard("Synapse work", fixed(100 * row.synapse_work, 0), "%", "of all steps'"),
      numberCard("Spikes", ...countParts(row.spikes_per_image), share(row.spikes_per_image, full.spikes_per_image)));
    const chosen = proposedExit(run);
    slot(body, "told", "p", { class: "absent" }).textContent = chosen
      ? `Proposed: ${significant(chosen.threshold, 2)}, which stops earliest while validation accuracy falls by at most ${significant(run.exit.max_loss, 2)} points.`
      : "Nothing is proposed: the run kept no validation images.";
  },
});

panels.push({
  id: "exit-curve",
  section: "Leaving early",
  title: "Accuracy and exit step against the threshold",
  figure: "Fig. 6",
  note: "Accuracy holds while steps fall, up to the threshold at which steps that matter are cut.",
  has: (run) => Boolean(run.exit?.sweep?.length),
  draw(body, run, view) {
    const { sweep } = run.exit;
    const row = exitRow(run, view);
    const at = sweep.map((r) => r.threshold);
    const big = sweep.map((r) => (r === row ? 7 : 2.5));
    chart(body, "exit-curve", {
      type: "line",
      description: "accuracy and exit step against gamma threshold",
      data: { datasets: [
        { label: "accuracy", ...lineLook(styleColour("accent")), pointRadius: big, data: xy(at, sweep.map((r) => r.accuracy)) },
        { label: "exit step", ...lineLook(styleColour("bad")), stepped: "after", pointRadius: big, yAxisID: "steps",
          data: xy(at, sweep.map((r) => r.exit_step)) },
      ] },
      scales: {
        x: axis("γ threshold", { type: "linear" }),
        y: axis("accuracy (%)"),
        steps: axis("exit step", { position: "right", min: 0, max: run.network.steps, grid: { drawOnChartArea: false }, ticks: { precision: 0 } }),
      },
    });
  },
});

panels.push({
  id: "exit-rules",
  section: "Leaving early",
  title: "Rules compared",
  wide: true,
  note: "The paper's rule stops every image at one step. Confidence lets each image go when it is sure; windows skip a layer at the steps at which its γ is small.",
  has: (run) => run.exit?.methods?.length > 0,
  draw(body, run) {
    const { methods } = run.exit;
    const [base] = methods;
    slot(body, "table").replaceChildren(table(
      ["rule", "accuracy", "mean steps", "synapse work", "spikes", "energy", "ms per image", "speed"],
      methods.map((method) => [
        [Object.hasOwn(kMethods, method.name) ? kMethods[method.name] : method.name,
          element("span", { class: "sub" }, methodSettings(method))],
        percent(method.accuracy), fixed(method.mean_steps, 2), percent(100 * method.synapse_work, 1),
        count(method.spikes_per_image), energy(method.energy_pj), significant(method.ms_per_image),
        times(base.ms_per_image / method.ms_per_image),
      ])));
  },
});

panels.push({
  id: "windows",
  section: "Leaving early",
  title: "When each layer works",
  wide: true,
  note: "Windows per layer: a filled cell is a step at which the layer's synapse works; elsewhere its γ is too small to matter and it rests.",
  has: (run) => run.exit?.windows?.length > 0,
  draw(body, run) {
    const { windows } = run.exit;
    const made = table(["", ...windows[0].active.map((_, i) => i + 1)],
      windows.map((stage) => [stage.name, ...stage.active.map(() => "")]), { className: "matrix" });
    [...made.querySelectorAll("tbody tr")].forEach((row, i) => [...row.querySelectorAll("td")].forEach((cell, step) => {
      const works = windows[i].active[step];
      cell.title = `${windows[i].name}, step ${step + 1}: ${works ? "works" : "rests"}`;
      if (works) cell.style.backgroundColor = layerColour(run, windows[i].name, 0.8);
    }));
    slot(body, "table").replaceChildren(made);
  },
});
