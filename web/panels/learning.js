"use strict";

const timedEpochs = (run) => run.learning.epochs.filter((e) => isNumber(e.seconds));

panels.push({
  id: "accuracy",
  section: "Learning",
  title: "Accuracy while training",
  note: "Training accuracy is measured on the batches since the previous point, validation accuracy on samples that are not used for training.",
  has: (run) => run.learning.steps.length > 0 || run.learning.epochs.length > 0,
  absent: "Nothing has been logged yet.",
  measured: (run) => (run.samples?.validation > 0 ? `Validation on ${whole(run.samples.validation)} ${sampleWord(run)}.` : ""),
  draw(body, run) {
    const { steps, epochs } = run.learning;
    const colours = [styleColour("faint"), styleColour("accent")];
    chart(body, "accuracy", {
      type: "line",
      description: "training and validation accuracy against training step",
      data: { datasets: [
        { label: "training", ...lineLook(colours[0]), ...manyPoints, data: xy(steps.map((s) => s.step), steps.map((s) => s.accuracy)) },
        { label: "validation", ...lineLook(colours[1]), data: xy(epochs.map((e) => e.step), epochs.map((e) => e.validation_accuracy)) },
      ] },
      scales: { x: trainingAxis(), y: axis("accuracy (%)") },
    });
  },
});

panels.push({
  id: "accuracy-over-minutes",
  section: "Learning",
  title: "Accuracy over minutes",
  note: "Accuracy after each epoch against the time on the clock since training began, loading and validation included.",
  has: (run) => timedEpochs(run).length > 0,
  measured: (run) => (run.samples?.validation > 0 ? `Validation on ${whole(run.samples.validation)} ${sampleWord(run)}.` : ""),
  draw(body, run) {
    const epochs = timedEpochs(run);
    const minutes = epochs.map((e) => e.seconds / 60);
    chart(body, "accuracy-over-minutes", {
      type: "line",
      description: "training and validation accuracy against minutes of training",
      data: { datasets: [
        { label: "training", ...lineLook(styleColour("faint")), data: xy(minutes, epochs.map((e) => e.train_accuracy)) },
        { label: "validation", ...lineLook(styleColour("accent")), data: xy(minutes, epochs.map((e) => e.validation_accuracy)) },
      ] },
      scales: { x: axis("minutes", { type: "linear", min: 0 }), y: axis("accuracy (%)") },
    });
  },
});

panels.push({
  id: "loss",
  section: "Learning",
  title: "Loss and learning rate",
  note: "Training and validation loss; learning rate on the right scale.",
  has: (run) => run.learning.steps.length > 0,
  draw(body, run) {
    const { steps, epochs } = run.learning;
    const at = steps.map((s) => s.step);
    chart(body, "loss", {
      type: "line",
      description: "loss and learning rate against training step",
      data: { datasets: [
        { label: "training loss", ...lineLook(styleColour("faint")), ...manyPoints, data: xy(at, steps.map((s) => s.loss)) },
        { label: "validation loss", ...lineLook(styleColour("accent")), data: xy(epochs.map((e) => e.step), epochs.map((e) => e.validation_loss)) },
        { label: "learning rate", ...lineLook(styleColour("good")), ...dashed, stepped: true, yAxisID: "rate", data: xy(at, steps.map((s) => s.learning_rate)) },
      ] },
      scales: {
        x: trainingAxis(),
        y: axis("loss", { min: 0 }),
        rate: axis("learning rate", { type: "logarithmic", position: "right", grid: { drawOnChartArea: false },
          ticks: { callback: logTick, autoSkip: false } }),
      },
    });
  },
});

panels.push({
  id: "density",
  section: "Learning",
  title: "The network becomes sparse",
  note: "Share of neuron-steps that fire, in training batches. Weight decay reduces γ wherever the loss does not counteract it.",
  has: (run) => run.learning.steps[0]?.density.length > 0,
  draw(body, run) {
    const { steps } = run.learning;
    const spiking = run.network.stages.filter((stage) => stage.spikes);
    const layers = steps[0].density.map((_, i) => spiking[i] ?? { name: `layer ${i + 1}` });
    chart(body, "density", {
      type: "line",
      description: "share of neuron-steps that fire, per layer, against training step",
      data: { datasets: layers.map((layer, i) => ({
        label: layer.name,
        ...lineLook(layerColour(run, layer.name)),
        ...manyPoints,
        data: xy(steps.map((s) => s.step), steps.map((s) => 100 * s.density[i])),
      })) },
      scales: { x: trainingAxis(), y: axis("neuron-steps that fire (%)", { min: 0 }) },
    });
  },
});

panels.push({
  id: "gamma-training",
  section: "Learning",
  title: "γ while training",
  note: "Mean γ over all steps of each layer, after every epoch.",
  has: (run) => run.learning.epochs.filter((e) => Object.keys(e.gamma).length > 0).length > 1,
  draw(body, run) {
    const { epochs } = run.learning;
    const layers = run.network.stages.filter((stage) => epochs.some((e) => e.gamma[stage.name]));
    const mean = (values) => values && values.reduce((sum, v) => sum + v, 0) / values.length;
    chart(body, "gamma-training", {
      type: "line",
      description: "mean gamma of each layer against epoch",
      data: { datasets: layers.map((layer) => ({
        label: layer.name,
        ...lineLook(layerColour(run, layer.name)),
        data: xy(epochs.map((e) => e.epoch), epochs.map((e) => mean(e.gamma[layer.name]))),
      })) },
      scales: { x: axis("epoch", { type: "linear", ticks: { precision: 0 } }), y: axis("mean γ", { min: 0 }) },
    });
  },
});
