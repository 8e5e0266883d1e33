// Formats numbers for reading. Metrics come from files, so anything that is not a finite number becomes a dash.
"use strict";

const kDash = "–";
const isNumber = (value) => typeof value === "number" && Number.isFinite(value);
const fixed = (value, digits) => (isNumber(value) ? value.toFixed(digits) : kDash);
const percent = (value, digits = 2) => (isNumber(value) ? `${value.toFixed(digits)} %` : kDash);
const points = (value) =>
  isNumber(value) ? `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)} points` : kDash;
const whole = (value) =>
  isNumber(value) ? Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, ",") : kDash;

// 3 significant digits, without an exponent where that stays readable.
function significant(value, digits = 3) {
  if (!isNumber(value)) return kDash;
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-4) return value.toExponential(digits - 1).replace("e+", "e");
  const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(size)));
  return decimals === 0 ? whole(value) : value.toFixed(decimals);
}

// `words` in the plural: "1 image", "2 images".
const counted = (value, words) => `${whole(value)} ${value === 1 ? words.slice(0, -1) : words}`;

// A threshold with all its digits: rounding it further could give another exit step.
const exact = (value) => (isNumber(value) ? String(Number(value.toPrecision(6))) : kDash);

const scaled = (value, units) => {
  if (!isNumber(value)) return [kDash, ""];
  for (const [size, unit] of units) {
    if (Math.abs(value) >= size) return [significant(value / size), unit];
  }
  const [size, unit] = units[units.length - 1];
  return [significant(value / size), unit];
};
const energyParts = (picojoules) =>
  scaled(picojoules, [[1e12, "J"], [1e9, "mJ"], [1e6, "µJ"], [1e3, "nJ"], [1, "pJ"]]);
const energy = (picojoules) => energyParts(picojoules).join(" ").trim();
const countParts = (value) => scaled(value, [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]]);
const count = (value) => countParts(value).join(" ").trim();
// `ratio`: how many times less than a reference; a ratio below 1 means more than the reference.
const lessParts = (ratio) => (ratio >= 1 ? [significant(ratio), "× less"] : [significant(1 / ratio), "× as much"]);
const times = (value) => (isNumber(value) ? `${significant(value)}×` : kDash);
