// Every panel of the report registers itself here, in the order of the page:
//   {id, section, title, figure, note, wide, kind, has(run), absent, instead(run), measured(run), draw(body, run, view, redraw)}
// A section none of whose panels has data shows the `absent` sentence of its first panel that has one. A panel without data
// whose `instead` gives a sentence is shown with that sentence. `measured` says on what the panel's numbers were measured.
// `kind` is "network" unless the panel says "classical" (runs of classical methods) or "any".
"use strict";

const panels = [];
const suits = (panel, run) => ["any", run.classical ? "classical" : "network"].includes(panel.kind ?? "network");

const isEvents = (run) => Boolean(run.classical) || run.settings?.encoder?.kind === "events";
const sampleWord = (run) => (isEvents(run) ? "recordings" : "images");
const oneSample = (run) => sampleWord(run).slice(0, -1);
const firstSamples = (run, count, of = "test") => `the first ${whole(count)} ${of} ${sampleWord(run)}`;
const onSamples = (run, count) => (isNumber(count) ? `On ${firstSamples(run, count)}.` : "");
// Times are taken on some of the samples.
const timedOn = (timed, all) => (isNumber(timed) && timed < all ? ` Times on the first ${whole(timed)} of them.` : "");
