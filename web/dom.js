// All elements are created here. Text is only inserted as text nodes, so that no name or value of a run can become
// markup; a picture must be a PNG data URI, as the report writes them.
"use strict";

function element(tag, options = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(options)) {
    if (name === "class") made.className = value;
    else made.setAttribute(name, value);
  }
  for (const child of children.flat()) {
    if (child === null || child === undefined) continue;
    made.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return made;
}

// The child of `parent` with this name, created by the first call: panels are redrawn when data changes.
function slot(parent, name, tag = "div", options = {}) {
  const found = [...parent.children].find((child) => child.dataset.slot === name);
  if (found) return found;
  const made = element(tag, options);
  made.dataset.slot = name;
  parent.append(made);
  return made;
}

function picture(source, text) {
  const safe = typeof source === "string" && /^data:image\/png;base64,[A-Za-z0-9+/=]*$/.test(source);
  return element("img", { class: "pixels", alt: String(text), src: safe ? source : "data:," });
}

function numberCard(label, value, unit, detail) {
  return element("div", { class: "number" },
    element("div", { class: "label" }, label),
    element("div", { class: "value" }, value, unit ? element("small", {}, ` ${unit}`) : null),
    detail ? element("div", { class: "detail" }, detail) : null);
}

// `rows`: arrays of cells, of which the first is the row's heading; `marks`: the CSS class of each row.
function table(heads, rows, { className = "", marks = [] } = {}) {
  const head = heads.length
    ? element("thead", {}, element("tr", {}, heads.map((text) => element("th", { scope: "col" }, text))))
    : null;
  const body = element("tbody", {}, rows.map((cells, index) =>
    element("tr", { class: marks[index] || "" }, cells.map((cell, column) =>
      column === 0 ? element("th", { scope: "row" }, cell) : element("td", {}, cell)))));
  return scroller(element("table", { class: className }, head, body));
}

// A wide table scrolls inside its card; its edges show where there is more to scroll to.
function scroller(content) {
  const inner = element("div", { class: "scroll", tabindex: "0" }, content);
  const frame = element("div", { class: "scroll-frame" }, inner);
  const tell = () => {
    frame.classList.toggle("more-left", inner.scrollLeft > 1);
    frame.classList.toggle("more-right", inner.scrollLeft + inner.clientWidth < inner.scrollWidth - 1);
  };
  inner.addEventListener("scroll", tell);
  new ResizeObserver(tell).observe(inner);
  return frame;
}

// A table whose columns after the first all have the same width, at least `cell` em.
function evenTable(heads, rows, cell) {
  const made = table(heads, rows, { className: "matrix" });
  made.querySelector("table").style.minWidth = `${9 + cell * (heads.length - 1)}em`;
  return made;
}
