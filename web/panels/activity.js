"use strict";

const spikingLayers = (run) => run.activity?.stages.filter((stage) => stage.neurons > 0) ?? [];

panels.push({
  id: "spikes",
  section: "Inside the network",
  title: "Spikes per layer and time step",
  figure: "Fig. 1",
  note: "Mean number of spikes per image. Activity travels through the layers as a wave.",
  has: (run) => Boolean(run.activity),
  absent: "Needs the test images: give their directory with --data.",
  measured: (run) => onSamples(run, run.activity.images),
  draw(body, run) {
    const layers = spikingLayers(run);
    chart(body, "spikes", {
      type: "line",
      description: "spikes per image of each layer against time step",
      data: { datasets: layers.map((layer) => ({
        label: layer.name,
        ...lineLook(layerColour(run, layer.name)),
        data: xy(stepsFrom1(layer.spikes_per_step), layer.spikes_per_step),
      })) },
      scales: { x: stepAxis("time step", run.network.steps), y: axis("spikes per image", { min: 0 }) },
    });
  },
});

panels.push({
  id: "spike-rate",
  section: "Inside the network",
  title: "Spike rate of each layer",
  figure: "Fig. 4a",
  note: "Spikes per neuron over all time steps, on a logarithmic scale. The paper's energy estimate is proportional to it.",
  has: (run) => Boolean(run.activity),
  measured: (run) => onSamples(run, run.activity.images),
  draw(body, run) {
    const layers = spikingLayers(run);
    const rates = layers.map((layer) => layer.spike_rate);
    const positive = rates.filter((rate) => rate > 0);
    const low = 10 ** Math.floor(Math.log10(Math.min(1, ...positive) / 1.5));
    chart(body, "spike-rate", {
      type: "bar",
      description: "spikes per neuron of each layer, logarithmic",
      data: { labels: layers.map((layer) => layer.name), datasets: [{
        label: "spikes per neuron",
        data: rates,
        backgroundColor: layers.map((layer) => layerColour(run, layer.name, 0.85)),
        borderRadius: 4,
        maxBarThickness: 64,
      }] },
      scales: {
        x: axis("layer", { grid: { display: false } }),
        y: axis("spikes per neuron", { type: "logarithmic", min: low, ticks: { callback: logTick, autoSkip: false } }),
      },
      layout: { padding: { top: 18 } },
      plugins: { legend: { display: false }, barValues: { text: (value) => significant(value, 2) }, tooltip: { callbacks: { label: (item) => `${significant(item.raw)} spikes per neuron` } } },
    });
  },
});
