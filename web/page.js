// Puts the panels on the page, and draws them again when the run, the theme or the data changes.
"use strict";

let report = { runs: [] };
let selected = 0;
const views = new Map();  // what the reader chose, per run: slider and selector

const viewOf = (run) => {
  if (!views.has(run.name)) views.set(run.name, {});
  return views.get(run.name);
};

function drawPanel(panel, run) {
  const box = document.getElementById(`panel-${panel.id}`);
  if (box) panel.draw(slot(box, "body"), run, viewOf(run), redrawPanel);
}

function redrawPanel(id) {
  const panel = panels.find((candidate) => candidate.id === id);
  if (panel.has(report.runs[selected])) drawPanel(panel, report.runs[selected]);
}

function drawRun(run) {
  const parent = document.getElementById("report");
  const detail = slot(parent, "run", "div");
  drawHeadline(detail, run);
  const suitable = panels.filter((panel) => suits(panel, run));
  for (const name of [...new Set(suitable.map((panel) => panel.section))]) {
    const members = suitable.filter((panel) => panel.section === name);
    const shown = members.filter((panel) => panel.has(run) || panel.instead?.(run));
    const message = shown.length === 0 ? members.find((panel) => panel.absent) : null;
    const section = slot(detail, name, "section", { id: sectionId(name) });
    if (shown.length === 0 && !message) { section.replaceChildren(); continue; }
    slot(section, "head", "h2").textContent = name;
    const grid = slot(section, "grid", "div", { class: "grid" });
    for (const old of [...grid.children]) {
      if (!shown.some((panel) => panel.id === old.dataset.slot) && old.dataset.slot !== message?.id) old.remove();
    }
    for (const panel of message ? [message] : shown) {
      const box = slot(grid, panel.id, "article", { class: panel.wide ? "card wide" : "card", id: `panel-${panel.id}` });
      const head = slot(box, "head", "div", { class: "head" });
      head.replaceChildren(element("h3", {}, panel.title), panel.figure && !message ? element("span", { class: "figure" }, `paper, ${panel.figure}`) : "");
      const instead = message ? message.absent : !panel.has(run) && panel.instead(run);
      slot(box, "note", "p", { class: "note" }).textContent = instead || panel.note;
      if (instead) continue;
      drawPanel(panel, run);
      slot(box, "measured", "p", { class: "measured" }).textContent = panel.measured?.(run) ?? "";
    }
  }
}

const sectionId = (name) => `section-${name.toLowerCase().replace(/[^a-z]+/g, "-")}`;

// A link to every section on the page.
function drawContents() {
  const heads = [...document.querySelectorAll("main section")].filter((section) => section.querySelector("h2"));
  document.getElementById("contents").replaceChildren(...heads.map((section) =>
    element("a", { href: `#${section.id}` }, section.querySelector("h2").textContent)));
}

function drawPicker() {
  const picker = document.getElementById("picker");
  picker.replaceChildren(...(report.runs.length < 2 ? [] : report.runs.map((run, i) => {
    const button = element("button", { type: "button", role: "tab", "aria-selected": String(i === selected) }, run.name);
    button.addEventListener("click", () => { selected = i; drawAll({ fresh: true }); });
    return button;
  })));
}

function drawAll({ fresh = false } = {}) {
  const parent = document.getElementById("report");
  if (fresh) {
    const from = window.scrollY;
    parent.querySelectorAll("canvas").forEach((canvas) => Chart.getChart(canvas)?.destroy());
    parent.replaceChildren();
    requestAnimationFrame(() => window.scrollTo(0, from));
  }
  document.getElementById("foot").textContent = report.generator ?? "";
  if (report.explanation) {
    document.title = `${report.explanation.name} – bntt predict`;
    drawExplanation(parent, report.explanation);
    return;
  }
  if (report.runs.length === 0) return;
  selected = Math.min(selected, report.runs.length - 1);
  const run = report.runs[selected];
  document.title = `${run.name} – bntt report`;
  drawPicker();
  if (report.runs.length > 1) drawComparison(parent, report.runs);
  drawRun(run);
  drawContents();
}

function show(next) {
  const same = report.runs.length === next.runs.length && report.runs.every((run, i) => run.name === next.runs[i].name);
  report = next;
  drawAll({ fresh: !same });
}

function followTheme() {
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  const apply = () => { document.documentElement.dataset.theme = chosen ?? (system.matches ? "dark" : "light"); };
  system.addEventListener("change", () => { apply(); drawAll({ fresh: true }); });
  document.getElementById("theme").addEventListener("click", () => {
    chosen = isDark() ? "light" : "dark";
    apply();
    drawAll({ fresh: true });
  });
  apply();
}

Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
followTheme();
show(JSON.parse(document.getElementById("document").textContent));
if (report.live) follow(show);
