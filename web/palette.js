// Layers, which are ordered, have a sequential palette; runs, which are not, a categorical one.
"use strict";

const kLayerStops = {
  light: ["#4b2991", "#2f5fc4", "#1487a8", "#1f9d6b", "#86a51e", "#d98a08", "#cf4a25"],
  dark: ["#a58bf0", "#7aa2ff", "#4cc3e0", "#55d39d", "#b9d357", "#f6bb4a", "#ff8a66"],
};
const kRunColours = {
  light: ["#2457c5", "#d1601f", "#12805c", "#8a3ab9", "#b3372f", "#6b7280"],
  dark: ["#83abff", "#ffa366", "#5ccba0", "#cf9bf2", "#f08a80", "#a5aebd"],
};

const isDark = () => document.documentElement.dataset.theme === "dark";
const themed = (colours) => colours[isDark() ? "dark" : "light"];
const styleColour = (name) =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
const rgb = ([r, g, b], alpha = 1) => `rgba(${Math.round(r)}, ${Math.round(g)}, ${Math.round(b)}, ${alpha})`;
const faded = (hex, alpha) => rgb(channels(hex), alpha);

function sequential(position, alpha = 1) {
  const stops = themed(kLayerStops);
  const at = Math.min(1, Math.max(0, position)) * (stops.length - 1);
  const low = Math.min(stops.length - 2, Math.floor(at));
  const [a, b] = [channels(stops[low]), channels(stops[low + 1])];
  return rgb(a.map((value, i) => value + (b[i] - value) * (at - low)), alpha);
}

// A layer has one colour on the whole page; the readout, which has no spikes, is grey.
function layerColour(run, name, alpha = 1) {
  const hidden = run.network.stages.filter((stage) => !stage.readout).map((stage) => stage.name);
  const index = hidden.indexOf(name);
  if (index < 0) return faded(styleColour("faint"), alpha);
  return sequential(hidden.length > 1 ? index / (hidden.length - 1) : 0.2, alpha);
}
const runColour = (index) => themed(kRunColours)[index % kRunColours.light.length];
