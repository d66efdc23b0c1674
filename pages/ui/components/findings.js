// What the checks found in an uploaded file, line by line.
const LABELS = { error: ["Refused", "bad"], warning: ["Fix", "warn"], note: ["Note", "note"] };

export default function ({ data, parentElement }) {
  parentElement
    .querySelector("#root")
    .replaceChildren(
      data.findings.length
        ? el("div", { class: "findings" }, data.findings.map(drawFinding))
        : el("div", { class: "fine" }, el("span", { class: "tick" }, "✓"), data.fine),
    );
}

function drawFinding({ severity, line, message, excerpt, rule }) {
  const [text, tone] = LABELS[severity] || LABELS.note;
  return el(
    "div",
    { class: `finding ${tone}` },
    el("span", { class: "line" }, `Line ${line}`),
    el("span", {}, badge({ text, tone })),
    el("div", { class: "say" }, el("div", {}, message), excerpt ? el("code", {}, excerpt) : null),
    el("span", { class: "rule" }, rule),
  );
}
