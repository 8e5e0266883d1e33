"use strict";

panels.push({
  id: "stages",
  section: "Settings",
  title: "Stages",
  wide: true,
  note: "",
  has: () => true,
  draw(body, run) {
    const { network } = run;
    slot(body, "table").replaceChildren(table(
      ["stage", "synapse", "input", "output", "weights", "γ", "neurons", "MACs per step"],
      [...network.stages.map((stage) => [
        stage.name, stage.synapse, stage.input.join(" × "), stage.output.join(" × "), whole(stage.weights),
        whole(stage.gains), stage.readout ? "readout" : whole(stage.neurons), whole(stage.macs),
      ]),
      ["all", "", "", "", whole(network.weights), whole(network.parameters - network.weights), whole(network.neurons), whole(network.macs)]],
      { marks: [...network.stages.map(() => ""), "sum"] }));
  },
});

const settingText = (value) =>
  (Array.isArray(value) ? value.map(settingText).join(", ") : typeof value === "object" && value !== null ? JSON.stringify(value) : String(value));

panels.push({
  id: "settings",
  kind: "any",
  section: "Settings",
  title: "Every setting of the run",
  wide: true,
  note: "From the settings file of the run, which is enough to repeat it.",
  has: (run) => Boolean(run.settings),
  draw(body, run) {
    const groups = Object.entries(run.settings).filter(([name, group]) => name !== "network" && typeof group === "object" && group !== null);
    slot(body, "groups", "div", { class: "settings" }).replaceChildren(...groups.map(([name, group]) =>
      element("div", {}, element("h4", {}, name),
        table([], Object.entries(group).map(([key, value]) => [key.replace(/_/g, " "), settingText(value) || kDash]), { className: "words" }))));
  },
});
