"use strict";

const membraneLayers = (run) => run.activity?.stages.filter((stage) => stage.membrane) ?? [];

panels.push({
  id: "membrane",
  section: "Inside the network",
  title: "Membrane potential",
  note: "Share of neuron-steps at each potential, at the moment when it is compared with the threshold. Neurons to the right of the threshold fire; the outermost bins include everything beyond them.",
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
  note: "The paper interprets γ as a firing threshold √(σ²+ε)/γ·θ on the raw current. This table compares a neuron with that threshold to the real one wherever γ > 0: once as in the paper, once with the mean current subtracted.",
  has: (run) => (run.activity?.stages ?? []).some((stage) => stage.effective_threshold),
  measured: (run) => onSamples(run, run.activity.detail_images),
  draw(body, run) {
    const stages = run.activity.stages.filter((stage) => stage.effective_threshold);
    const share = (value) => percent(100 * value, 1);
    slot(body, "table").replaceChildren(table(
      ["layer", "γ > 0", "agrees", "finds", "agrees, mean subtracted", "finds"],
      stages.map(({ name, effective_threshold: check }) => [
        name, share(check.positive_gains),
        share(check.paper.same), share(check.paper.recall),
        share(check.with_mean.same), share(check.with_mean.recall),
      ])));
    slot(body, "told", "p", { class: "absent" }).textContent =
      "agrees: share of neuron-steps in which both fire or both are silent. finds: share of real spikes that it predicts.";
  },
});
