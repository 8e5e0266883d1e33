// Every panel of the report registers itself here, in page order:
//   {id, section, title, figure, note, wide, kind, has(run), absent, instead(run), measured(run), draw(body, run, view, redraw)}
// If no panel of a section has data, the section shows the `absent` sentence of the first panel that has one. A panel without
// data is shown with the sentence that `instead` returns, if any. `measured` says which samples the panel's numbers come from.
// `kind` is "network" unless the panel says "classical" (runs of classical methods) or "any".
"use strict";

const panels = [];
const suits = (panel, run) => ["any", run.classical ? "classical" : "network"].includes(panel.kind ?? "network");

const isEvents = (run) => Boolean(run.classical) || run.settings?.encoder?.kind === "events";
const sampleWord = (run) => (isEvents(run) ? "recordings" : "images");
const oneSample = (run) => sampleWord(run).slice(0, -1);
const firstSamples = (run, count, of = "test") => `the first ${whole(count)} ${of} ${sampleWord(run)}`;
const onSamples = (run, count) => (isNumber(count) ? `On ${firstSamples(run, count)}.` : "");
// Times are measured on a part of the samples.
const timedOn = (timed, all) => (isNumber(timed) && timed < all ? ` Times on the first ${whole(timed)} of them.` : "");
