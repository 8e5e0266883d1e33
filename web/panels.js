// Every panel of the report registers itself here, in the order of the page:
//   {id, section, title, figure, note, wide, has(run), absent, draw(body, run, view, redraw)}
// A section none of whose panels has data shows the `absent` sentence of its first panel that has one.
"use strict";

const panels = [];
