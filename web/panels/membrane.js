"use strict";

const membraneLayers = (run) => run.activity?.stages.filter((stage) => stage.membrane) ?? [];

panels.push({
  id: "membrane",
  section: "Inside the network",
  title: "Membrane potential",
  note: "Share of neuron-steps at each potential, at the moment of comparison with the threshold. What lies to the right of it fires; the ends hold all that lies beyond.",
  has: (run) => membraneLayers(run).length > 0,
  measured: (run) => onSamples(run, run.activity.detail_images),
  draw(body, run) {
    const layers = membraneLayers(run);
    chart(body, "membrane", {
      type: "line",
      description: "distribution of the membrane potential per layer",
      data: { datasets: layers.map((layer) => {
        const { low, high, counts } = layer.membrane.histogram;
        const all = Math.max(1, counts.reduce((sum, n) => sum + n, 0));
        return {
          label: layer.name, ...lineLook(layerColour(run, layer.name)), ...manyPoints, stepped: true,
          data: histogramSteps(low, high, counts.map((n) => (100 * n) / all)),
        };
      }) },
      scales: { x: axis("membrane potential", { type: "linear" }), y: axis("share (%)", { min: 0 }) },
    });
  },
});

panels.push({
  id: "effective-threshold",
  section: "Inside the network",
  title: "Does the effective threshold explain the spikes?",
  figure: "Section 3.3",
  note: "The paper reads γ as a firing threshold √(σ²+ε)/γ·θ on the raw current. Checked here, where γ > 0: a neuron with that threshold beside the real one; once as in the paper, once with the mean current taken off.",
  has: (run) => (run.activity?.stages ?? []).some((stage) => stage.effective_threshold),
  measured: (run) => onSamples(run, run.activity.detail_images),
  draw(body, run) {
    const stages = run.activity.stages.filter((stage) => stage.effective_threshold);
    const share = (value) => percent(100 * value, 1);
    slot(body, "table").replaceChildren(table(
      ["layer", "γ > 0", "agrees", "finds", "agrees, mean off", "finds"],
      stages.map(({ name, effective_threshold: check }) => [
        name, share(check.positive_gains),
        share(check.paper.same), share(check.paper.recall),
        share(check.with_mean.same), share(check.with_mean.recall),
      ])));
    slot(body, "told", "p", { class: "absent" }).textContent =
      "agrees: neuron-steps with the same answer. finds: real spikes that it fires too.";
  },
});
