// An editor for Markdown with its preview and what the checks say. What is typed goes to Python shortly after the last key.
const PAUSE = 450; // milliseconds
const PATIENCE = 8000; // milliseconds until a text that nobody confirmed counts as not saved
const LATEST = 5; // texts on their way to Python that this tab knows as its own
let cm = null; // CodeMirror, which is loaded once and only here

export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  const root = parentElement.querySelector("#root");
  const state = memory(root, () => ({
    serial: null,
    timer: 0,
    sent: "",
    after: [],
    documents: null,
    pictures: new Set(),
  }));
  if (state.serial && state.tab !== data.tab && state.surface.text() !== state.data.text)
    keepUnsent(state, state.surface.text()); // the server started again
  state.set = setStateValue;
  state.say = setTriggerValue;
  state.data = data;
  if (!state.surface) build(root, state);
  if (state.serial !== data.serial) open(state);
  if (state.left ? state.left === data.left : state.surface.text() === data.text) confirmed(state);
  insertPicture(state, data.insert);
  showNote(state);
  showFindings(state);
  drawPreview(state);
}

// Another text: after a reset by this tab, or in a new session, as after a reload or a restart of the server.
function open(state) {
  const { serial, tab, text, place } = state.data;
  if (state.tab === tab) forgetUnsent(place);
  const kept = unsent(place, text);
  const own = kept?.after.includes(text);
  const shown = own ? kept.text : text;
  Object.assign(state, { serial, tab, sent: text, after: [], resent: own ? kept.after : [], left: null });
  if (state.surface.text() !== shown) state.surface.replace(shown);
  if (state.surface.view) state.tools.show(state.surface.view);
  if (own) send(state);
  else if (kept) leave(state, kept);
}

// Another tab saved another text meanwhile: Python keeps the one that this tab has beside it.
function leave(state, kept) {
  state.left = `${Date.now()}`;
  state.say("left", { id: state.left, ...kept });
}

// Built once; later draws only fill it, so that the cursor stays.
function build(root, state) {
  state.tools = toolbar(() => state.surface.view, choosePicture(state));
  state.write = el("div.write");
  state.preview = el("div.preview", { role: "region", "aria-label": "Preview", tabindex: "0" });
  state.checks = el("div.checks", { role: "region", "aria-label": "Checks", "aria-live": "polite" });
  state.note = el("span.muted.small", { role: "status" });
  root.replaceChildren(
    el("div.row.bar", state.tools.node, state.note),
    el("div.layout", state.write, state.preview),
    state.checks,
  );
  state.surface = plainSurface(state);
  window.addEventListener("pagehide", () => send(state));
  loadEditor(root, state);
}

// Where CodeMirror cannot be loaded, the plain box stays; only the toolbar is gone.
async function loadEditor(root, state) {
  try {
    cm ||= await import(new URL(state.data.library, window.location.origin).href);
  } catch {
    state.tools.node.remove();
    return;
  }
  const plain = state.surface;
  const focused = plain.area.matches(":focus");
  state.surface = codeSurface(root, state, plain.text());
  plain.area.remove();
  state.tools.show(state.surface.view);
  showFindings(state);
  if (focused) state.surface.view.focus();
}

// ---------------------------------------------------------------- where the text is typed

const NAME = "Text of the document (Markdown)";

function plainSurface(state) {
  const area = el("textarea.plain", { "aria-label": NAME, oninput: () => typed(state), onblur: () => send(state) });
  area.spellcheck = true;
  state.write.append(area);
  return {
    area,
    text: () => area.value,
    replace: (text) => (area.value = text),
    mark: () => {},
    goTo: (line) => {
      const above = area.value.split("\n").slice(0, line - 1);
      const at = above.reduce((sum, text) => sum + text.length + 1, 0);
      area.focus();
      area.setSelectionRange(at, at);
    },
  };
}

function codeSurface(root, state, text) {
  const start = (doc) => cm.EditorState.create({ doc, extensions: extensions(state) });
  const view = new cm.EditorView({ state: start(text), parent: state.write, root: root.getRootNode() });
  view.scrollDOM.addEventListener("scroll", () => scrollPreview(state), { passive: true });
  const position = (line) => view.state.doc.line(Math.min(Math.max(line, 1), view.state.doc.lines));
  return {
    view,
    text: () => view.state.doc.toString(),
    replace: (doc) => view.setState(start(doc)),
    mark: (findings) =>
      view.dispatch(
        cm.setDiagnostics(
          view.state,
          findings.map((finding) => diagnostic(finding, position)),
        ),
      ),
    goTo: (line) => {
      const { from } = position(line);
      view.dispatch({ selection: { anchor: from }, effects: cm.EditorView.scrollIntoView(from, { y: "center" }) });
      view.focus();
    },
  };
}

const diagnostic = ([line, severity, message], position) => {
  const { from, to } = position(line);
  return { from, to, severity: severity === "error" ? "error" : "warning", message };
};

function extensions(state) {
  const { EditorView, keymap, Prec } = cm;
  const documents = () => (state.documents ||= loadDocuments(state));
  return [
    cm.lineNumbers({ formatNumber: (line) => String(line + (state.data.above || 0)) }),
    cm.lintGutter(),
    cm.highlightActiveLine(),
    cm.highlightActiveLineGutter(),
    cm.history(),
    new cm.LanguageSupport(cm.markdownLanguage, cm.pasteURLAsLink),
    cm.syntaxHighlighting(highlights()),
    cm.autocompletion({ override: [linkSource(documents, () => state.data.path)], icons: false }),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ "aria-label": NAME, spellcheck: "true", autocapitalize: "sentences" }),
    EditorView.theme(THEME),
    EditorView.domEventHandlers({
      paste: (event, view) => keepPictures(state, event, event.clipboardData) || paste(event, view),
      drop: (event) => keepPictures(state, event, event.dataTransfer),
      blur: () => send(state),
    }),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) typed(state);
      if (update.docChanged || update.selectionSet) state.tools.show(update.view);
    }),
    Prec.high(keymap.of(keys())),
    keymap.of([...cm.lintKeymap, ...cm.historyKeymap, ...cm.completionKeymap, ...cm.defaultKeymap]),
  ];
}

const keys = () => [
  { key: "Tab", run: (view) => cm.acceptCompletion(view) || nextTableCell(view) || indentItem(view, 1) },
  { key: "Shift-Tab", run: (view) => nextTableCell(view, -1) || indentItem(view, -1) },
  {
    key: "Enter",
    run: (view) => cm.acceptCompletion(view) || enterInTable(view) || cm.insertNewlineContinueMarkup(view),
  },
  { key: "Backspace", run: (view) => cm.deleteMarkupBackward(view) },
  ...toolKeys(),
];

function paste(event, view) {
  const markdown = pastedMarkdown(event.clipboardData);
  if (!markdown) return false;
  event.preventDefault();
  view.dispatch(view.state.replaceSelection(markdown), { userEvent: "input.paste", scrollIntoView: true });
  return true;
}

// ---------------------------------------------------------------- pictures

// Python keeps the picture with the draft and answers with the Markdown that shows it.
function keepPicture(state, file) {
  const id = `${Date.now()}-${state.pictures.size}`;
  const reader = new FileReader();
  reader.onload = () => {
    state.pictures.add(id);
    state.say("picture", { id, name: file.name || "picture.png", data: String(reader.result).split(",")[1] });
  };
  reader.readAsDataURL(file);
}

function keepPictures(state, event, { files, types }) {
  const picture = [...files].find((file) => file.type.startsWith("image/"));
  if (!picture || types.includes("text/html")) return false;
  event.preventDefault();
  keepPicture(state, picture);
  return true;
}

function choosePicture(state) {
  const input = el("input", { type: "file", onchange: () => input.files[0] && keepPicture(state, input.files[0]) });
  input.accept = "image/png,image/jpeg,image/gif,image/webp,image/svg+xml";
  return () => input.click();
}

// Only what this editor asked for: the answer is still there when it is drawn anew.
function insertPicture(state, { id, markdown }) {
  if (!state.pictures.delete(id)) return;
  insertBlock(state.surface.view, markdown, markdown.slice(2, markdown.indexOf("](")));
  state.surface.view.focus();
}

async function loadDocuments({ data }) {
  const documents = [];
  for (let total = 1; documents.length < total;) {
    const part = await api(`documents?limit=1000&offset=${documents.length}`, data.direct);
    if (!part.value?.length) break;
    documents.push(...part.value.map(({ doc, title, path }) => ({ id: doc, title, path })));
    total = part.total;
  }
  return documents;
}

const THEME = {
  "&": {
    height: "100%",
    fontSize: "var(--size)",
    color: "var(--st-text-color)",
    background: "var(--st-background-color)",
  },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-1px" },
  ".cm-scroller": { fontFamily: "var(--st-code-font)", lineHeight: "1.6", overflow: "auto" },
  ".cm-content": { caretColor: "var(--st-text-color)", padding: "10px 0" },
  ".cm-line": { padding: "0 14px 0 6px" },
  ".cm-gutters": { background: "var(--soft)", color: "var(--muted)", border: "0" },
  ".cm-activeLine, .cm-activeLineGutter": { background: "color-mix(in srgb, var(--accent) 8%, transparent)" },
  ".cm-activeLineGutter": { color: "var(--st-text-color)" }, // enough contrast on its tint
  ".cm-tooltip": {
    background: "var(--st-background-color)",
    color: "var(--st-text-color)",
    border: "1px solid var(--line)",
    borderRadius: "8px",
    overflow: "hidden",
    boxShadow: "0 4px 18px rgb(0 0 0 / 18%)",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": {
    fontFamily: "var(--st-font)",
    maxHeight: "17em",
    maxWidth: "min(620px, 92vw)",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "5px 10px" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { background: "var(--accent)", color: "var(--st-background-color)" },
  ".cm-completionDetail": { fontStyle: "normal", opacity: "0.8", fontSize: "12.5px" },
  ".cm-diagnostic": { padding: "6px 10px", fontFamily: "var(--st-font)", maxWidth: "420px" },
};

function highlights() {
  const { tags } = cm;
  return cm.HighlightStyle.define([
    { tag: tags.heading, color: "var(--heading)", fontWeight: "650" },
    { tag: tags.strong, fontWeight: "700" },
    { tag: tags.emphasis, fontStyle: "italic" },
    { tag: tags.strikethrough, textDecoration: "line-through" },
    { tag: [tags.link, tags.url], color: "var(--st-link-color)" },
    { tag: tags.monospace, color: "var(--code)" },
    { tag: [tags.quote, tags.processingInstruction, tags.contentSeparator, tags.meta], color: "var(--muted)" },
  ]);
}

// ---------------------------------------------------------------- on the way to Python

function typed(state) {
  clearTimeout(state.timer);
  state.timer = setTimeout(() => send(state), PAUSE);
  showNote(state);
}

function send(state) {
  clearTimeout(state.timer);
  const text = state.surface.text();
  if (text === state.sent) return;
  keepUnsent(state, text);
  state.sent = text;
  state.set("text", { serial: state.serial, text, after: state.resent });
  state.after = [...state.after, text].slice(-LATEST);
  clearTimeout(state.waiting);
  state.waiting = setTimeout(() => showNote(state, true), PATIENCE);
}

// Until Python has confirmed a text, this tab keeps it: a reload, Back or a lost connection loses nothing.
const unsentKey = (place) => `concord-editor-${place}`;

function keepUnsent({ data, after }, text) {
  try {
    sessionStorage.setItem(unsentKey(data.place), JSON.stringify({ text, after: [data.text, ...after] }));
  } catch {
    // a browser that stores nothing: the text is sent all the same
  }
}

function confirmed(state) {
  Object.assign(state, { after: [], resent: [], left: null });
  forgetUnsent(state.data.place);
}

function forgetUnsent(place) {
  try {
    sessionStorage.removeItem(unsentKey(place));
  } catch {
    // as above
  }
}

// A text that Python does not have, with those that it was typed after; null when there is none.
function unsent(place, text) {
  try {
    const kept = JSON.parse(sessionStorage.getItem(unsentKey(place)));
    return kept && kept.text !== text ? kept : null;
  } catch {
    return null;
  }
}

function showNote(state, late = false) {
  const { saved, note, text } = state.data;
  const clock =
    saved && new Date(saved).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  if (state.surface.text() === text) state.note.textContent = clock ? `Draft saved ${clock}` : note;
  else state.note.textContent = late ? "Not saved yet: is the connection lost? This tab keeps your text." : "Saving …";
}

// ---------------------------------------------------------------- findings and preview

function showFindings(state) {
  const { checks, problem } = state.data;
  state.surface.mark(checks.filter(([line]) => line > 0));
  const rows = checks.map(([line, severity, message]) => findingRow(state, line, severity, message));
  if (!rows.length && !problem) rows.push(el("span.muted", "✓ Every check passed."));
  state.checks.replaceChildren(...rows);
}

// What stands above the text, in the fields, has no line here.
function findingRow(state, line, severity, message) {
  const row = checkRow({ line, severity, message });
  row.children[1].replaceWith(
    line > 0
      ? el("button.goto", { onclick: () => state.surface.goTo(line) }, `Line ${line + (state.data.above || 0)}`)
      : el("span.muted", "Fields"),
  );
  return row;
}

function drawPreview(state) {
  const { title, problem, nodes, lines } = state.data;
  const text = prose(nodes);
  state.blocks = [...text.childNodes]
    .map((node, n) => [node, lines[n]])
    .filter(([node, line]) => node.nodeType === 1 && line);
  state.preview.replaceChildren(el("h2.title", title), problem ? el("div.problem", problem) : "", text);
  if (state.surface.view) scrollPreview(state);
  for (const [node, line] of state.blocks) node.addEventListener("dblclick", () => state.surface.goTo(line));
}

// The block that stands at the top of the text stands at the top of the preview; both begin and end together.
function scrollPreview({ surface: { view }, preview, blocks }) {
  const { scrollTop, scrollHeight, clientHeight } = view.scrollDOM;
  const line = view.state.doc.lineAt(view.lineBlockAtHeight(scrollTop).from).number;
  const next = blocks.findIndex(([, start]) => start > line);
  const at = next < 0 ? blocks.length - 1 : next - 1;
  const top = preview.getBoundingClientRect().top - preview.scrollTop;
  const place = ([block, start]) => [block.getBoundingClientRect().top - top - 12, start];
  const [y, from] = at < 0 || scrollTop === 0 ? [0, 1] : place(blocks[at]);
  const [end, to] = next < 0 ? [preview.scrollHeight, view.state.doc.lines + 1] : place(blocks[next]);
  const atEnd = scrollTop > 0 && scrollTop + clientHeight >= scrollHeight - 2;
  preview.scrollTop = atEnd ? preview.scrollHeight : y + ((line - from) / Math.max(1, to - from)) * (end - y);
}
