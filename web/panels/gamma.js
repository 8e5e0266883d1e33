"use strict";

// Fig. 3. The slider of the exit panel moves the threshold, hence `view`.
panels.push({
  id: "gamma",
  section: "Inside the network",
  title: "Gain γ of each layer and time step",
  figure: "Fig. 3",
  note: "Mean γ: how strongly a layer weighs its input at a step. Once every γ stays below the threshold, the later steps change little and can be left out.",
  has: (run) => run.gamma.some((layer) => !layer.shared),
  absent: "This network's norm has no γ per time step.",
  draw(body, run, view) {
    const layers = run.gamma.filter((layer) => !layer.shared);
    const row = exitRow(run, view);
    const last = run.network.steps;
    const sets = layers.map((layer) => ({
      label: layer.name,
      ...lineLook(layerColour(run, layer.name)),
      data: xy(stepsFrom1(layer.mean), layer.mean),
    }));
    if (row) {
      sets.push({ label: "exit threshold", ...lineLook(styleColour("faint")), ...dashed,
                  data: [{ x: 1, y: row.threshold }, { x: last, y: row.threshold }] });
    }
    chart(body, "gamma", {
      type: "line",
      description: "mean gamma of each layer against time step",
      data: { datasets: sets },
      scales: { x: stepAxis("time step", last), y: axis("mean γ", { suggestedMin: 0 }) },
      plugins: { region: row && row.exit_step < last
        ? { from: row.exit_step, to: last, colour: faded(styleColour("accent"), 0.13), label: "left out" } : {} },
    });
  },
});

// Fig. 5, as ridges: one curve per time step, the first at the top.
panels.push({
  id: "gamma-histogram",
  section: "Inside the network",
  title: "Histogram of γ over time",
  figure: "Fig. 5",
  note: "Each ridge is one time step, the first at the top; its height is the share of channels with that γ.",
  has: (run) => run.gamma.some((layer) => !layer.shared),
  draw(body, run, view, redraw) {
    const layers = run.gamma.filter((layer) => !layer.shared);
    const control = slot(body, "control", "label", { class: "control" });
    const chosen = layers.find((layer) => layer.name === view.histogram) || layers[0];
    const select = element("select", { "aria-label": "layer" },
      layers.map((layer) => element("option", { value: layer.name }, layer.name)));
    select.value = chosen.name;
    select.addEventListener("change", () => { view.histogram = select.value; redraw("gamma-histogram"); });
    control.replaceChildren("layer", select, `${chosen.channels} channels`);

    const { low, high, counts } = chosen.histogram;
    const first = chosen.first_step;
    const kept = counts.map((row, i) => ({ row, step: i + 1 })).slice(first, first + chosen.active_steps);
    const stride = Math.ceil(kept.length / 16);
    const shown = kept.filter((_, i) => i % stride === 0);
    const width = (high - low) / shown[0].row.length;
    const largest = Math.max(1, ...shown.flatMap(({ row }) => row));
    const ridge = 2.6;  // how far the highest peak reaches over its neighbours
    const sets = shown.map(({ row, step }, i) => {
      const base = shown.length - 1 - i;
      const colour = sequential(shown.length > 1 ? i / (shown.length - 1) : 0);
      const total = Math.max(1, row.reduce((sum, n) => sum + n, 0));
      const at = (edge, n) => ({ x: low + edge * width, y: base + (ridge * n) / largest, share: n / total, middle: low + (edge + 0.5) * width });
      return {
        label: `step ${step}`, borderColor: colour, borderWidth: 1.5, pointRadius: 0, stepped: true,
        backgroundColor: sequential(shown.length > 1 ? i / (shown.length - 1) : 0, 0.35),
        fill: { value: base }, order: -i,
        data: [at(0, 0), ...row.map((n, bin) => at(bin, n)), at(row.length, 0)],
      };
    });
    chart(body, "gamma-histogram", {
      type: "line",
      tall: true,
      description: "histograms of gamma, one ridge per time step",
      data: { datasets: sets },
      scales: {
        x: axis("γ", { type: "linear", min: Math.floor(10 * low) / 10, max: Math.ceil(10 * high) / 10, ticks: { maxTicksLimit: 9 } }),
        y: axis("time step", { min: 0, max: shown.length - 1 + ridge + 0.2, grid: { display: false },
          afterBuildTicks: (scale) => { scale.ticks = shown.map((_, i) => ({ value: i })); },
          ticks: { callback: (value) => shown[shown.length - 1 - value]?.step ?? "", autoSkip: false } }),
      },
      interaction: { mode: "nearest", axis: "xy", intersect: false },
      plugins: {
        legend: { display: false },
        tooltip: { callbacks: {
          title: (items) => `γ ≈ ${fixed(items[0]?.raw.middle, 2)}`,
          label: (item) => `${item.dataset.label}: ${percent(100 * item.raw.share, 1)} of channels`,
        } },
      },
    });
  },
});
