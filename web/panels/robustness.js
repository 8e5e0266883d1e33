"use strict";

// ε is in units of 1/255, as it is usually quoted; σ in pixels of 0..1; noise on events as a share of the events.
const attackCurve = (run, kind) => (run.robustness?.curves.find((curve) => curve.kind === kind)?.points ?? [])
  .map((point) => ({ x: kind === "noise" ? point.strength : 255 * point.strength, y: point.accuracy }));

const attackPanel = (id, title, note, names, unit, more) => ({
  id,
  section: "Robustness",
  title,
  figure: { noise: "Fig. 4b", attack: "App. F" }[id],
  note,
  has: (run) => Boolean(run.robustness?.events) === Boolean(more?.events) && names.some(([kind]) => attackCurve(run, kind).length > 1),
  absent: "Not measured: leave out --no-attack to measure it.",
  measured: (run) => onSamples(run, run.robustness.images),
  ...more,
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
        y: axis("accuracy (%)"),
      },
    });
  },
});

panels.push(attackPanel("noise", "Accuracy against noise",
  "Gaussian noise on the pixels, before encoding.", [["noise", "Gaussian noise"]],
  "σ of the noise (pixels in 0..1)"));
panels.push(attackPanel("event-noise", "Accuracy against noise",
  "Each event is removed with this probability, and on average as many are added at random places of the same frame. At 1, only noise is left.",
  [["noise", "events removed and added"]], "share of events removed and added", { events: true }));
panels.push(attackPanel("attack", "Accuracy under attack",
  "Each pixel changes by at most ε in the direction that increases the loss; PGD takes several steps.",
  [["fgsm", "FGSM"], ["pgd", "PGD"]], "ε (in 1/255)",
  { instead: (run) => run.robustness?.no_gradient_attacks && `Not defined${run.robustness.events ? " for event recordings" : ""}: ${run.robustness.no_gradient_attacks}.` }));
