const severityBadge = (severity) =>
  badge(
    {
      error: { text: "Error", tone: "bad" },
      differs: { text: "Differs", tone: "warn" },
      settled: { text: "Settled", tone: "" },
    }[severity] || {
      text: "Fix",
      tone: "warn",
    },
  );

// What a check found in a text: how bad, where, what.
const checkRow = ({ line, severity, message }) =>
  el("div", severityBadge(severity), el("span.muted", `Line ${line}`), el("span", message));
