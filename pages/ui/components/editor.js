// A text box and its preview side by side. What is typed goes to Python shortly after the last key.
const PAUSE = 450; // milliseconds

export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector("#root");
  const state = memory(root, () => ({ serial: null, timer: 0, sent: "" }));
  state.set = setStateValue;
  if (!state.area) build(root, state);
  if (state.serial !== data.serial) {
    state.serial = data.serial;
    state.area.value = data.text;
    state.sent = data.text;
  }
  state.note.textContent = data.note;
  state.checks.replaceChildren(...checkRows(data));
  state.preview.replaceChildren(
    el("h1", {}, data.title),
    data.problem ? el("div", { class: "problem" }, data.problem) : "",
    prose(data.nodes),
  );
}

function checkRows({ checks, problem }) {
  if (!checks.length && !problem) return [el("span", { class: "muted" }, "✓ Every check passed.")];
  return checks.map(([line, severity, message]) => checkRow({ line, severity, message }));
}

// Built once; later draws only fill it, so that the cursor stays.
function build(root, state) {
  state.area = el("textarea", {
    class: "write",
    "aria-label": "Text of the document",
    oninput: () => {
      clearTimeout(state.timer);
      state.timer = setTimeout(() => send(state), PAUSE);
    },
    onblur: () => send(state),
    onscroll: () => scrollPreview(state),
  });
  state.area.spellcheck = true;
  state.preview = el("div", { class: "preview", "aria-label": "Preview" });
  state.checks = el("div", { class: "checks", "aria-label": "Checks", "aria-live": "polite" });
  state.note = el("span", { class: "muted small" });
  root.replaceChildren(
    el(
      "div",
      { class: "layout" },
      el("div", { class: "head" }, el("span", {}, "Text (Markdown)")),
      el("div", { class: "head" }, el("span", {}, "Preview"), state.note),
      state.area,
      state.preview,
    ),
    state.checks,
  );
}

function send(state) {
  clearTimeout(state.timer);
  if (state.area.value === state.sent) return;
  state.sent = state.area.value;
  state.set("text", state.sent);
}

// The preview follows in proportion: it is rarely as long as the text.
function scrollPreview({ area, preview }) {
  const areaRange = area.scrollHeight - area.clientHeight;
  const previewRange = preview.scrollHeight - preview.clientHeight;
  if (areaRange > 0) preview.scrollTop = (area.scrollTop / areaRange) * previewRange;
}
