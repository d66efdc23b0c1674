const TONES = { error: ["Refused", "bad"], warning: ["Fix", "warn"], note: ["Note", "note"] };

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector("#root");
  if (!data.findings.length)
    return root.replaceChildren(el("div", { class: "fine" }, el("span", { class: "tick" }, "✓"), data.fine));
  root.replaceChildren(
    el(
      "div",
      { class: "findings" },
      data.findings.map((one) => {
        const [text, tone] = TONES[one.severity] || TONES.note;
        return el(
          "div",
          { class: `finding ${tone}` },
          el("span", { class: "line" }, `Line ${one.line}`),
          el("span", {}, badge({ text, tone })),
          el("div", { class: "say" }, el("div", {}, one.message), one.excerpt ? el("code", {}, one.excerpt) : null),
          el("span", { class: "rule" }, one.rule),
        );
      }),
    ),
  );
}
