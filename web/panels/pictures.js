"use strict";

const matrixSum = (run) => run.pictures?.matrix?.flat().reduce((sum, n) => sum + n, 0);

panels.push({
  id: "inputs",
  section: "Pictures",
  title: "What the network sees",
  wide: true,
  note: "Samples of the test set, and their spikes accumulated over the steps so far.",
  has: (run) => run.pictures?.samples?.length > 0,
  absent: "Needs the test images: give their directory with --data.",
  draw(body, run) {
    const { samples, source } = run.pictures;
    slot(body, "source", "p", { class: "note" }).textContent = `${isEvents(run) ? "Colour" : "Brightness"}: ${source}.`;
    slot(body, "samples", "div", { class: "samples" }).replaceChildren(...samples.map((sample) => {
      const strip = element("div", { class: "strip" },
        element("figure", {}, picture(sample.image, sample.truth),
          element("figcaption", {}, sample.truth === sample.predicted ? `${sample.truth} ✓` : `${sample.truth}, taken for ${sample.predicted}`)),
        sample.accumulated.map((part) => element("figure", {}, picture(part.image, `after ${part.steps} steps`),
          element("figcaption", {}, part.steps === 1 ? "1 step" : `${part.steps} steps`))));
      strip.style.gridTemplateColumns = `repeat(${1 + sample.accumulated.length}, minmax(0, 1fr))`;
      return strip;
    }));
  },
});

panels.push({
  id: "confusions",
  section: "Pictures",
  title: "Worst confusions",
  wide: true,
  note: "The pairs of classes that are confused most often, with the mistakes the network was most confident about.",
  has: (run) => run.pictures?.confusions?.length > 0,
  measured: (run) => onSamples(run, matrixSum(run)),
  draw(body, run) {
    slot(body, "list", "div", { class: "confusions" }).replaceChildren(...run.pictures.confusions.map((pair) =>
      element("div", { class: "confusion" },
        element("div", { class: "pair" }, pair.truth, element("i", {}, " taken for "), pair.predicted),
        element("div", { class: "count" }, `${counted(pair.count, sampleWord(run))}, ${percent(100 * pair.share, 1)} of the class`),
        element("div", { class: "strip" }, pair.examples.map((example) => element("figure", {},
          picture(example.image, `${pair.truth} taken for ${pair.predicted}`),
          element("figcaption", {}, percent(100 * example.confidence, 0))))))));
  },
});

// Rows: true class. Columns: predicted class, followed by the columns in `extra` ([head, count per row]).
function confusionTable(matrix, classes, extra = []) {
  const counts = matrix.map((row, i) => [...row, ...extra.map(([, column]) => column[i])]);
  const shares = counts.map((row) => {
    const all = Math.max(1, row.reduce((sum, n) => sum + n, 0));
    return row.map((n) => (100 * n) / all);
  });
  const made = evenTable(["", ...classes, ...extra.map(([head]) => head)],
    shares.map((row, i) => [classes[i], ...row.map((share) => (share >= 0.05 ? fixed(share, 1) : ""))]), 3.6);
  [...made.querySelectorAll("tbody tr")].forEach((row, i) => [...row.querySelectorAll("td")].forEach((cell, j) => {
    const colour = styleColour(i === j ? "good" : "bad");
    if (shares[i][j] >= 0.05) cell.style.backgroundColor = faded(colour, Math.min(0.6, i === j ? (0.5 * shares[i][j]) / 100 : 0.08 + shares[i][j] / 25));
  }));
  return made;
}

panels.push({
  id: "matrix",
  section: "Pictures",
  title: "Confusion matrix",
  wide: true,
  note: "Rows: true class. Columns: predicted class. Values in percent of the row.",
  has: (run) => run.pictures?.matrix?.length > 0 && run.pictures.matrix.length <= 20,
  measured: (run) => onSamples(run, matrixSum(run)),
  draw(body, run) {
    slot(body, "matrix").replaceChildren(confusionTable(run.pictures.matrix, run.pictures.classes));
  },
});
