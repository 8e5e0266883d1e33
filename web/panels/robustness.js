"use strict";

// ε counts in 1/255, as it is quoted; σ in pixels of 0..1.
const attackCurve = (run, kind) => (run.robustness?.curves.find((curve) => curve.kind === kind)?.points ?? [])
  .map((point) => ({ x: kind === "noise" ? point.strength : 255 * point.strength, y: point.accuracy }));

const attackPanel = (id, title, note, names, unit) => ({
  id,
  section: "Robustness",
  title,
  figure: id === "noise" ? "Fig. 4b" : "App. F",
  note,
  has: (run) => names.some(([kind]) => attackCurve(run, kind).length > 1),
  absent: "Not measured: leave out --no-attack to have it.",
  draw(body, run) {
    const present = names.filter(([kind]) => attackCurve(run, kind).length > 1);
    const look = ["accent", "bad", "good"];
    chart(body, id, {
      type: "line",
      description: title,
      data: { datasets: present.map(([kind, label], i) => ({
        label,
        ...lineLook(styleColour(look[i])),
        data: attackCurve(run, kind),
      })) },
      scales: {
        x: axis(unit, { type: "linear" }),
        y: axis("accuracy (%)", { suggestedMin: 0 }),
      },
    });
    slot(body, "images", "p", { class: "absent" }).textContent = `On the first ${whole(run.robustness.images)} test images.`;
  },
});

panels.push(attackPanel("noise", "Accuracy against noise",
  "Gaussian noise on the pixels, before they become spikes.", [["noise", "Gaussian noise"]],
  "σ of the noise (pixels in 0..1)"));
panels.push(attackPanel("attack", "Accuracy under attack",
  "Each pixel moves by at most ε, in the worst direction that the network's own gradient shows; PGD takes several steps.",
  [["fgsm", "FGSM"], ["pgd", "PGD"]], "ε (in 1/255)"));
