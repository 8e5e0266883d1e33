// While `bntt report --follow` or `bntt predict --live` serves the page: polls for new data, and shows when the program has ended.
"use strict";

function follow(show) {
  const status = document.getElementById("status");
  const kPauseOfRuns = 1500;  // milliseconds
  const kPauseOfSamples = 200;
  let version = null;
  let pause = kPauseOfRuns;
  const tell = (text, gone = false) => {
    status.className = gone ? "live gone" : "live";
    status.textContent = text;
  };
  const progress = (run) => {
    const { learning } = run;
    if (learning.finished) return "training has ended";
    const last = learning.steps[learning.steps.length - 1];
    return last ? `training · epoch ${last.epoch} of ${run.settings.train.epochs} · step ${last.step}` : "waiting for the first step";
  };
  const ask = async () => {
    try {
      const answer = await fetch(`document.json?since=${encodeURIComponent(version ?? "")}`, { cache: "no-store" });
      if (answer.status === 200) {
        const next = await answer.json();
        version = next.version;
        show(next);
        tell(next.problem ?? next.explanation?.status ?? progress(next.runs[0]), Boolean(next.problem));
        pause = next.explanation ? kPauseOfSamples : kPauseOfRuns;
      }
    } catch {
      tell("bntt has ended; this page shows the last state", true);
    }
    setTimeout(ask, pause);
  };
  ask();
}
