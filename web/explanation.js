// Which neurons fired when, for one sample: the page of `bntt predict --explain` and of `bntt predict --live`.
"use strict";

const stageColour = (index, all) => sequential(all > 1 ? index / (all - 1) : 0.2);
const afterSteps = (steps) => (steps === 1 ? "1 step" : `${steps} steps`);

function pictureStrip(pictures, first) {
  const strip = element("div", { class: "strip" }, first ?? null,
    pictures.map((part) => element("figure", {}, picture(part.image, `after ${afterSteps(part.steps)}`),
      element("figcaption", {}, afterSteps(part.steps)))));
  strip.style.gridTemplateColumns = `repeat(${strip.children.length}, minmax(0, 240px))`;
  return strip;
}

function explanationCard(grid, id, title, note, wide = false) {
  const box = slot(grid, id, "article", { class: wide ? "card wide" : "card", id: `panel-${id}` });
  slot(box, "head", "div", { class: "head" }).replaceChildren(element("h3", {}, title));
  slot(box, "note", "p", { class: "note" }).textContent = note;
  return slot(box, "body");
}

function drawAnswers(grid, told) {
  const body = explanationCard(grid, "answers", "Probability of each class",
    "After each time step, for the classes that are the most likely at the end.");
  chart(body, "answers", {
    type: "line",
    description: "probability of each class against time step",
    data: { datasets: told.answers.map((answer, i) => ({
      label: answer.name,
      ...lineLook(runColour(i)),
      data: answer.probabilities.map((value, step) => ({ x: told.first_answer + step, y: 100 * value })),
    })) },
    scales: { x: stepAxis("time step", told.steps), y: axis("probability (%)", { min: 0, max: 100 }) },
  });
}

function drawFiring(grid, told) {
  const body = explanationCard(grid, "firing", "Spikes of each layer and time step", "Number of neurons that fire for this sample.");
  chart(body, "firing", {
    type: "line",
    description: "spikes of each layer against time step",
    data: { datasets: told.stages.map((stage, i) => ({
      label: stage.name,
      ...lineLook(stageColour(i, told.stages.length)),
      data: stage.spikes_per_step.map((value, step) => ({ x: stage.first_step + step, y: value })),
    })) },
    scales: { x: stepAxis("time step", told.steps), y: axis("spikes", { min: 0 }) },
  });
}

function drawStages(grid, told) {
  const body = explanationCard(grid, "firing-where", "Where it fires",
    "Spikes of a layer, summed over its channels and over the steps so far; white is where the layer fires most. For a layer without a map: one row per step, one column per neuron.", true);
  slot(body, "stages", "div", { class: "samples" }).replaceChildren(...told.stages.map((stage) => {
    const all = stage.spikes_per_step.reduce((sum, value) => sum + value, 0);
    return element("div", {},
      element("h4", {}, `${stage.name}: ${counted(all, "spikes")} of ${counted(stage.neurons, "neurons")}`),
      stage.maps ? pictureStrip(stage.maps) : null,
      stage.raster ? picture(stage.raster.image, `spikes of ${stage.raster.neurons} neurons, one row per step`) : null);
  }));
}

function drawExplanation(parent, told) {
  const title = slot(parent, "title", "div", { class: "title" });
  title.replaceChildren(element("h1", {}, told.name),
    element("p", {}, [told.data, `${told.taken} of ${afterSteps(told.steps)}`, ...told.facts].filter(Boolean).join(" · ")));
  const spikes = told.stages.flatMap((stage) => stage.spikes_per_step).reduce((sum, value) => sum + value, 0);
  slot(parent, "numbers", "div", { class: "numbers" }).replaceChildren(
    ...told.answers.map((answer) => numberCard(answer.name, fixed(100 * answer.probabilities[answer.probabilities.length - 1], 1), "%")),
    numberCard("Spikes", whole(spikes), ""));
  const grid = slot(slot(parent, "section", "section", { id: "section-sample" }), "grid", "div", { class: "grid" });
  const seen = explanationCard(grid, "seen", "What the network sees", "The sample in the network's size, and its spikes or events accumulated over the steps so far.", true);
  slot(seen, "strip").replaceChildren(pictureStrip(told.input,
    element("figure", {}, picture(told.picture, told.name), element("figcaption", {}, "sample"))));
  drawAnswers(grid, told);
  drawFiring(grid, told);
  drawStages(grid, told);
}
