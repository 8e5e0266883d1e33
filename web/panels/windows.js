"use strict";

// One row per layer, one column per step; `stage` has the colour of a branch that is not the first.
function windowTable(run, windows) {
  const made = evenTable(["", ...windows[0].active.map((_, i) => i + 1)],
    windows.map((layer) => [layer.name, ...layer.active.map(() => "")]), 1.9);
  [...made.querySelectorAll("tbody tr")].forEach((row, i) => [...row.querySelectorAll("td")].forEach((cell, step) => {
    const { name, stage, active } = windows[i];
    cell.title = `${name}, step ${step + 1}: ${active[step] ? "computed" : "skipped"}`;
    if (active[step]) cell.style.backgroundColor = layerColour(run, stage ?? name, 0.8);
  }));
  return made;
}

panels.push({
  id: "learned-windows",
  section: "Inside the network",
  title: "Steps that training left on",
  wide: true,
  note: "A filled cell is a step at which the layer's synapse works. At the others training has switched its γ off for good: they add nothing, and their work is left out in training and inference.",
  has: (run) => run.learned_windows?.layers.length > 0,
  draw(body, run) {
    const { work, layers } = run.learned_windows;
    slot(body, "share", "p").replaceChildren(`${percent(100 * work, 1)} of the synapse work is left.`);
    slot(body, "table").replaceChildren(windowTable(run, layers));
  },
});
