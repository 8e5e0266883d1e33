// Runs of classical methods: their accuracy, features, confusions and times.
"use strict";

const testPass = (run) => (run.classical.times?.passes ?? []).find((pass) => pass.what === "test recordings");
const onTestRecordings = (run) => `On ${counted(run.classical.data.test, "test recordings")}.`;

// [label, value, unit, detail], as for the run of a network.
function classicalNumbers(run) {
  const { classical } = run;
  const { data, features, published } = classical;
  const cards = [["Test accuracy", fixed(classical.accuracy, 2), "%", `${whole(classical.right)} of ${counted(data.test, "recordings")}`]];
  if (published) cards.push(["Published", fixed(published.accuracy, 1), "%", `on all of ${data.name}; ${published.source}`]);
  if (isNumber(classical.auc)) cards.push(["Area under the ROC curve", fixed(classical.auc, 3), "", "1: no mistakes, 0.5: chance"]);
  cards.push(["Features", whole(features.count), "", `${whole(features.mean_nonzero)} of them nonzero in a recording on average`]);
  const pass = testPass(run);
  if (pass) cards.push(["Time per recording", significant(pass.reading_ms + pass.work_ms), "ms", `${significant(pass.reading_ms)} ms to read it, on one core`]);
  cards.push(["Training recordings", whole(data.train), "", `and ${whole(data.validation)} for validation`]);
  return cards;
}

panels.push({
  id: "classical-scores",
  kind: "classical",
  section: "Method",
  title: "What it reached",
  wide: true,
  note: "The recordings and their split are the same as for networks.",
  has: () => true,
  measured: onTestRecordings,
  draw(body, run) {
    const { classical } = run;
    const { published, costs = [], also = [], notes = [] } = classical;
    const rows = [
      ["features", classical.features.text],
      ["accuracy", percent(classical.accuracy)],
      ["mean over classes", percent(classical.class_balanced)],
      ...also.map((score) => [score.name, percent(score.accuracy)]),
      ...(isNumber(classical.validation_accuracy) ? [["validation accuracy", percent(classical.validation_accuracy)]] : []),
      ...(isNumber(classical.cost) ? [["cost of the linear classifier", exact(classical.cost)]] : []),
      ...costs.map((trial) => [`validation accuracy at cost ${exact(trial.cost)}`, percent(trial.validation_accuracy)]),
      ...(published ? [["published", `${fixed(published.accuracy, 1)} %: ${published.source}`]] : []),
    ];
    slot(body, "table").replaceChildren(table([], rows, { className: "words" }));
    slot(body, "notes").replaceChildren(...notes.map((note) => element("p", { class: "note" }, note)));
  },
});

panels.push({
  id: "classical-features",
  kind: "classical",
  section: "Features",
  title: "What its features look like",
  wide: true,
  note: "In each picture, black is the lowest value and white the highest.",
  has: (run) => run.classical.maps?.length > 0,
  draw(body, run) {
    slot(body, "groups").replaceChildren(...run.classical.maps.flatMap((group) => [
      element("h4", {}, group.name),
      element("div", { class: "maps" }, group.maps.map((map) => element("figure", { class: group.maps.length === 1 ? "broad" : "" },
        picture(map.image, `${group.name}: ${map.name}`),
        element("figcaption", { title: `${significant(map.low)} to ${significant(map.high)}` }, map.name))))]));
  },
});

panels.push({
  id: "classical-matrix",
  kind: "classical",
  section: "Confusion",
  title: "Confusion matrix",
  wide: true,
  note: "Rows: true class. Columns: predicted class. Values in percent of the row.",
  has: (run) => run.classical.confusion?.length > 0,
  measured: onTestRecordings,
  draw(body, run) {
    const { confusion, unanswered, data } = run.classical;
    const silent = unanswered.some((n) => n > 0) ? [["no answer", unanswered]] : [];
    slot(body, "matrix").replaceChildren(confusionTable(confusion, data.classes, silent));
  },
});

panels.push({
  id: "classical-times",
  kind: "classical",
  section: "Time",
  title: "Where the time goes",
  wide: true,
  note: "Processor time per recording, of the thread that processed it.",
  has: (run) => run.classical.times?.passes?.length > 0,
  measured: (run) => `${significant(run.classical.times.seconds)} s in total, with ${counted(run.classical.times.threads, "threads")}.`,
  draw(body, run) {
    slot(body, "table").replaceChildren(table(["", "recordings", "events", "reading (ms)", "method (ms)"],
      run.classical.times.passes.map((pass) => [pass.what, whole(pass.recordings), whole(pass.events), significant(pass.reading_ms), significant(pass.work_ms)])));
  },
});
