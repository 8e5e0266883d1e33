"use strict";

panels.push({
  id: "energy",
  section: "Energy",
  title: "Where the energy goes",
  figure: "Tab. 3",
  wide: true,
  note: "Per sample. An ANN does a multiply-add at every connection; a spiking network only adds, and only where a spike arrives. Real-valued input costs multiply-adds, once per sample.",
  has: (run) => Boolean(run.energy),
  absent: "Needs the test images: give their directory with --data.",
  measured: (run) => onSamples(run, run.energy.images) + timedOn(run.exit?.timed_images ?? run.energy.cpu?.images, run.energy.images),
  draw(body, run) {
    const { stages, table: prices, cpu, ...all } = run.energy;
    const sum = (key) => stages.reduce((total, stage) => total + (stage[key] ?? 0), 0);
    const some = (key) => sum(key) > 0;
    const columns = [
      ["spikes per neuron", (stage) => (stage.neurons > 0 ? significant(stage.spike_rate) : ""), () => ""],
      ["adds", (stage) => count(stage.accumulates), () => count(sum("accumulates"))],
      ...(some("multiply_accumulates")
        ? [["multiply-adds", (stage) => (stage.multiply_accumulates > 0 ? count(stage.multiply_accumulates) : ""), () => count(sum("multiply_accumulates"))]] : []),
      ["energy", (stage) => energy(stage.measured_pj), () => energy(all.measured_pj)],
      ["paper's form", (stage) => energy(stage.paper_pj), () => energy(all.paper_pj)],
    ].filter(() => all.spiking);
    slot(body, "table").replaceChildren(table(
      ["layer", "ANN multiply-adds", "ANN energy", ...columns.map(([head]) => head)],
      [...stages.map((stage) => [stage.name, count(stage.flops_ann), energy(stage.ann_pj), ...columns.map(([, cell]) => cell(stage))]),
        ["all", count(sum("flops_ann")), energy(all.ann_pj), ...columns.map(([, , total]) => total())]],
      { marks: [...stages.map(() => ""), "sum"] }));
    const cards = [];
    if (isNumber(all.measured_ratio)) cards.push(["Energy against an ANN", ...lessParts(all.measured_ratio), `ANN / SNN = ${significant(all.measured_ratio)}, from the operations counted`]);
    if (isNumber(all.paper_ratio)) cards.push(["The same, paper's form", ...lessParts(all.paper_ratio), `ANN / SNN = ${significant(all.paper_ratio)}, FLOPs × spike rate, as in the paper's Table 3`]);
    if (isNumber(all.truenorth)) cards.push(["TrueNorth-normalised", significant(all.truenorth), "", "1: the paper's conversion, 1000 steps"]);
    cards.push(["Energy per operation", `${significant(prices.mac_pj, 2)} / ${significant(prices.accumulate_pj, 2)}`, "pJ", `multiply-add / add, ${prices.name}${stages.some((stage) => stage.int8) ? `; ${significant(prices.int8_accumulate_pj, 2)} pJ per add of int8` : ""}`]);
    if (isNumber(timeOfAllSteps(run))) {
      cards.push(["This machine", significant(timeOfAllSteps(run)), "ms",
        `per sample, ${cpu.threads} threads${isNumber(cpu.joules_per_image) ? `, ${energy(1e12 * cpu.joules_per_image)}` : ""}`]);
    }
    slot(body, "numbers", "div", { class: "numbers" }).replaceChildren(...cards.map((card) => numberCard(...card)));
  },
});
