"use strict";

// The row of the sweep that the slider selects; initially the proposed one.
function exitRow(run, view) {
  const sweep = run.exit?.sweep;
  if (!sweep?.length) return run.gamma_exit ?? null;
  return sweep[Math.min(sweep.length - 1, view.exit ?? run.exit.proposed ?? 0)];
}

const proposedExit = (run) => run.exit?.sweep?.[run.exit.proposed];

// Time of all steps, the same number everywhere on the page: from the table of rules if there is one.
const timeOfAllSteps = (run) => run.exit?.methods?.[0]?.ms_per_image ?? run.energy?.cpu?.ms_per_image ?? run.classical?.ms_per_recording;

const confidenceText = (run) => `with ${fixed(100 * (run.exit.bound_confidence ?? 0.95), 0)} % confidence`;

// The proposed threshold and how certain it is, or why none is proposed.
function proposalText(run) {
  const { exit } = run;
  const chosen = proposedExit(run);
  const validation = `${whole(exit.validation_images)} validation ${sampleWord(run)}`;
  if (chosen) {
    const change = `${chosen.validation_loss < 0 ? "gains" : "costs"} ${fixed(Math.abs(chosen.validation_loss), 2)}`;
    return `Proposed: ${exact(chosen.threshold)}. On ${validation} it ${change} points of accuracy; ${confidenceText(run)} it costs at most ${fixed(chosen.validation_loss_bound, 2)} on other ${sampleWord(run)}; ` +
      `${significant(exit.max_loss, 2)} are allowed.`;
  }
  if (!exit.validation_images) return `Nothing is proposed: the run kept no validation ${sampleWord(run)}.`;
  const first = exit.sweep.find((row) => row.exit_step < run.network.steps);
  if (!isNumber(first?.validation_loss_bound)) return "Nothing is proposed: every threshold takes all steps.";
  const needed = isNumber(exit.validation_images_needed)
    ? ` At this loss at least ${whole(exit.validation_images_needed)} validation ${sampleWord(run)} would be needed.` : "";
  return `Nothing is proposed: according to ${validation}, stopping after ${first.exit_step} steps may cost up to ` +
    `${fixed(first.validation_loss_bound, 2)} points (${confidenceText(run)}), but only ${significant(exit.max_loss, 2)} are allowed.${needed}`;
}

const exitMeasured = (run) => onSamples(run, run.exit.images) + timedOn(run.exit.timed_images, run.exit.images);

// Readable names for the methods of `bntt exit`.
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
  if (isNumber(method.gamma_threshold)) parts.push(`γ < ${exact(method.gamma_threshold)}`);
  if (isNumber(method.window_threshold)) parts.push(`window |γ| ≥ ${exact(method.window_threshold)}`);
  if (isNumber(method.sample_limit)) parts.push(`${method.sample_exit} ≥ ${significant(method.sample_limit, 2)}`);
  return parts.join(", ");
}

panels.push({
  id: "exit-slider",
  section: "Leaving early",
  title: "What a threshold costs and saves",
  note: "Inference stops after the last step at which any layer's mean γ reaches the threshold. That step is known before the first image.",
  has: (run) => Boolean(run.exit?.sweep?.length),
  absent: "Needs γ per time step and the test images.",
  measured: exitMeasured,
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
    range.setAttribute("aria-valuetext", exact(sweep[index].threshold));
    const row = sweep[index];
    const full = sweep.reduce((a, b) => (b.exit_step > a.exit_step ? b : a));
    control.querySelector("output").textContent = exact(row.threshold);
    const lossBound = ({ exit_step: steps, validation_loss_bound: bound }) => (isNumber(bound) && steps < full.exit_step
      ? `; costs at most ${fixed(bound, 2)} ${confidenceText(run)}` : "");
    const share = (value, of) => (isNumber(value) && isNumber(of) && of > 0 ? `${fixed((100 * value) / of, 0)} % of the total for all steps` : null);
    slot(body, "numbers", "div", { class: "numbers" }).replaceChildren(
      numberCard("Accuracy", fixed(row.accuracy, 2), "%", `${points(row.accuracy - full.accuracy)}${lossBound(row)}`),
      numberCard("Steps", whole(row.exit_step), `of ${run.network.steps}`, index === run.exit.proposed ? "proposed" : null),
      numberCard("Energy", ...energyParts(row.energy_pj), share(row.energy_pj, full.energy_pj)),
      numberCard("Time per image", significant(row.ms_per_image), "ms", share(row.ms_per_image, full.ms_per_image)),
      numberCard("Synapse work", fixed(100 * row.synapse_work, 0), "%", "of the total for all steps"),
      numberCard("Spikes", ...countParts(row.spikes_per_image), share(row.spikes_per_image, full.spikes_per_image)),
    );
    slot(body, "told", "p", { class: "told" }).textContent = proposalText(run);
  },
});

panels.push({
  id: "exit-curve",
  section: "Leaving early",
  title: "Accuracy and exit step against the threshold",
  figure: "Fig. 6",
  note: "A higher threshold saves steps without loss until it cuts steps that matter.",
  has: (run) => Boolean(run.exit?.sweep?.length),
  measured: (run) => onSamples(run, run.exit.images),
  draw(body, run, view) {
    const { sweep } = run.exit;
    const row = exitRow(run, view);
    // All thresholds in a row's interval give the same result, so the line is flat across it, with a dot at the named threshold.
    const line = (pick) => sweep.flatMap((r, i) => [
      r.threshold_above ?? (i > 0 ? sweep[i - 1].threshold : Math.min(0, r.threshold)), r.threshold, r.threshold_up_to ?? r.threshold,
    ].map((x) => ({ x, y: pick(r) })));
    const dots = sweep.flatMap((r) => [0, r === row ? 7 : 2.5, 0]);
    chart(body, "exit-curve", {
      type: "line",
      description: "accuracy and exit step against gamma threshold",
      data: { datasets: [
        { label: "accuracy", ...lineLook(styleColour("accent")), pointRadius: dots, data: line((r) => r.accuracy) },
        { label: "exit step", ...lineLook(styleColour("bad")), pointRadius: dots, yAxisID: "steps", data: line((r) => r.exit_step) },
      ] },
      scales: {
        x: axis("γ threshold", { type: "linear" }),
        y: axis("accuracy (%)", { grace: "6%" }),
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
  note: "The paper's rule stops every image at one step. Confidence stops each image as soon as one class is likely enough; windows skip a layer at the steps where its γ is small.",
  has: (run) => run.exit?.methods?.length > 0,
  measured: (run) => `${exitMeasured(run)} Settings chosen on ${whole(run.exit.validation_images)} validation ${sampleWord(run)}: a rule ` +
    `is listed if its loss is at most ${significant(run.exit.max_loss, 2)} points ${confidenceText(run)}.`,
  draw(body, run) {
    const { methods } = run.exit;
    const [base] = methods;
    slot(body, "table").replaceChildren(table(
      ["rule", "accuracy", "loss at most", "mean steps", "synapse work", "spikes", "energy", "ms per image", "speed"],
      methods.map((method) => [
        [Object.hasOwn(kMethods, method.name) ? kMethods[method.name] : method.name,
          element("span", { class: "sub" }, methodSettings(method))],
        percent(method.accuracy), method === base ? "" : fixed(method.validation_loss_bound, 2), fixed(method.mean_steps, 2), percent(100 * method.synapse_work, 1),
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
  note: "Windows per layer: a filled cell is a step at which the layer's synapse computes; at the others its γ is too small to matter and it is skipped.",
  has: (run) => run.exit?.windows?.length > 0,
  draw(body, run) {
    slot(body, "table").replaceChildren(windowTable(run, run.exit.windows));
  },
});
