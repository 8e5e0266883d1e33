// How our charts look: defaults for Chart.js, and plugins that shade a region and label bars.
"use strict";

// `region`: {from, to, colour, label}, in values of the x scale, painted under the data.
const regionPlugin = {
  id: "region",
  beforeDatasetsDraw(chart, _, options) {
    if (!isNumber(options.from) || !isNumber(options.to) || options.to <= options.from) return;
    const { ctx, chartArea, scales } = chart;
    const left = Math.max(chartArea.left, scales.x.getPixelForValue(options.from));
    const right = Math.min(chartArea.right, scales.x.getPixelForValue(options.to));
    if (right <= left) return;
    ctx.save();
    ctx.fillStyle = options.colour;
    ctx.fillRect(left, chartArea.top, right - left, chartArea.bottom - chartArea.top);
    if (options.label) {
      ctx.fillStyle = styleColour("soft");
      ctx.font = "12px system-ui, sans-serif";
      ctx.textAlign = "right";
      ctx.fillText(options.label, right - 6, chartArea.top + 15);
    }
    ctx.restore();
  },
};

// `barValues`: {text}, a function from value to the text above each bar.
const barValuesPlugin = {
  id: "barValues",
  afterDatasetsDraw(chart, _, options) {
    if (typeof options.text !== "function") return;
    const { ctx } = chart;
    ctx.save();
    ctx.fillStyle = styleColour("ink");
    ctx.font = `11.5px ${Chart.defaults.font.family}`;
    ctx.textAlign = "center";
    chart.getDatasetMeta(0).data.forEach((bar, i) => {
      const value = chart.data.datasets[0].data[i];
      if (isNumber(value)) ctx.fillText(options.text(value), bar.x, Math.min(bar.y, chart.chartArea.bottom) - 5);
    });
    ctx.restore();
  },
};

const lineLook = (colour) => ({
  borderColor: colour,
  backgroundColor: colour,
  borderWidth: 2,
  pointRadius: 2.5,
  pointHoverRadius: 5,
  tension: 0,
  clip: 10,
});
// A line needs two points: a single one, of a short run, is drawn as a dot.
const manyPoints = { pointRadius: ({ dataset }) => (dataset.data.length < 2 ? 2.5 : 0), borderWidth: 1.8 };
const dashed = { borderDash: [5, 4], pointRadius: 0, borderWidth: 1.5 };

const axis = (title, more = {}) => {
  const { ticks, ...rest } = more;
  return {
    grid: { color: styleColour("line"), borderColor: styleColour("faint") },
    title: { display: true, text: title, color: styleColour("soft"), font: { size: 12 } },
    ticks: { color: styleColour("soft"), font: { size: 11.5 }, maxRotation: 0, ...ticks },
    ...rest,
  };
};
const stepAxis = (title, last) =>
  axis(title, { type: "linear", min: 1, max: Math.max(2, last), ticks: { precision: 0, stepSize: last <= 12 ? 1 : undefined } });

// Drops the last tick if it is closer to its neighbour than the others are: their labels would overlap.
const trainingAxis = () => axis("training step", {
  type: "linear", bounds: "data", min: 0,
  afterBuildTicks: (scale) => {
    const { ticks } = scale;
    const spacing = ticks.length > 2 ? ticks[1].value - ticks[0].value : 0;
    const last = ticks[ticks.length - 1];
    if (spacing > 0 && last.value - ticks[ticks.length - 2].value < 0.99 * spacing) scale.ticks = ticks.slice(0, -1);
  },
});

// Ticks of a logarithmic scale: 1, 2 and 5 times each power of ten; only the powers if there are many.
function logTick(value) {
  const digit = Number(value.toExponential()[0]);
  const even = Math.abs(value / 10 ** Math.floor(Math.log10(value) + 1e-9) - digit) < 1e-6;
  const wide = Math.log10(this.max / this.min) > 2.5;
  return even && (wide ? [1] : [1, 2, 5]).includes(digit) ? significant(value, 1) : "";
}

// Steps of a histogram: each bin holds its value from edge to edge.
const histogramSteps = (low, high, values) => {
  const width = (high - low) / values.length;
  const edges = values.map((y, bin) => ({ x: low + bin * width, y }));
  return [...edges, { x: high, y: values[values.length - 1] }];
};

// Draws a chart in `body`, or updates the existing one with new data.
function chart(body, name, { type, data, scales, plugins = {}, tall = false, description, ...more }) {
  const holder = slot(body, name, "div", { class: tall ? "plot tall" : "plot" });
  const options = {
    animation: false,
    maintainAspectRatio: false,
    interaction: { mode: "index", intersect: false },
    scales,
    ...more,
    plugins: {
      legend: {
        position: "bottom",
        labels: { color: styleColour("ink"), usePointStyle: true, pointStyle: "line", boxWidth: 24, padding: 14,
                  font: { size: 12 } },
      },
      region: {},
      barValues: {},
      ...plugins,
    },
  };
  const canvas = slot(holder, "canvas", "canvas", { role: "img", "aria-label": description || name });
  const before = Chart.getChart(canvas);
  if (before && before.config.type === type) {
    const shown = before.data.datasets.map((set, i) => [set.label, before.isDatasetVisible(i)]);
    before.data = data;
    before.options = options;
    before.update("none");
    const hidden = shown.filter(([, visible]) => !visible).map(([label]) => label);
    data.datasets.forEach((set, i) => before.setDatasetVisibility(i, !hidden.includes(set.label)));
    before.update("none");
    return before;
  }
  if (before) before.destroy();
  return new Chart(canvas, { type, data, options, plugins: [regionPlugin, barValuesPlugin] });
}

const xy = (xs, ys) => ys.map((y, i) => ({ x: xs[i], y: isNumber(y) ? y : null }));
const stepsFrom1 = (values) => values.map((_, i) => i + 1);
