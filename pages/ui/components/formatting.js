// What the toolbar and its shortcuts do to the text of an editor.
const LIST_MARK = /^(\s*)(?:[-*+] \[[ xX]\] |[-*+] |\d+[.)] )/;
const LINE_MARKS = {
  bullets: { mark: /^(\s*)[-*+] (?!\[[ xX]\] )/, write: () => "- " },
  numbers: { mark: /^(\s*)\d+[.)] /, write: (n) => `${n}. ` },
  tasks: { mark: /^(\s*)[-*+] \[[ xX]\] /, write: () => "- [ ] " },
  quote: { mark: /^(\s*)> ?/, write: () => "> " },
};

// Put marks around the selection or the word at the cursor; take them away where they are.
function toggleMark(view, mark, sample) {
  const { state } = view;
  const { doc } = state;
  view.dispatch(
    state.changeByRange((selected) => {
      const range = selected.empty ? state.wordAt(selected.head) || selected : selected;
      const size = mark.length;
      if (
        doc.sliceString(range.from - size, range.from) === mark &&
        doc.sliceString(range.to, range.to + size) === mark
      )
        return {
          changes: [
            { from: range.from - size, to: range.from },
            { from: range.to, to: range.to + size },
          ],
          range: cm.EditorSelection.range(range.from - size, range.to - size),
        };
      const text = doc.sliceString(range.from, range.to) || sample;
      return {
        changes: { from: range.from, to: range.to, insert: mark + text + mark },
        range: cm.EditorSelection.range(range.from + size, range.from + size + text.length),
      };
    }),
    { userEvent: "input", scrollIntoView: true },
  );
  return true;
}

function selectedLines(view) {
  const { from, to } = view.state.selection.main;
  const { doc } = view.state;
  const [first, last] = [doc.lineAt(from).number, doc.lineAt(to).number];
  return Array.from({ length: last - first + 1 }, (_, n) => doc.line(first + n));
}

// Where several lines are selected, the empty ones among them are not meant.
function meantLines(view) {
  const all = selectedLines(view);
  return all.length > 1 ? all.filter((line) => line.text.trim()) : all;
}

function rewriteLines(view, lines, rewrite) {
  const changes = lines.map((line, n) => ({ from: line.from, to: line.to, insert: rewrite(line.text, n) }));
  view.dispatch({ changes, userEvent: "input", scrollIntoView: true });
  if (lines.length === 1) view.dispatch({ selection: { anchor: view.state.doc.lineAt(lines[0].from).to } });
  return true;
}

// Lines become a list or a quote, or stop being one.
function toggleLines(view, kind) {
  const { mark, write } = LINE_MARKS[kind];
  const lines = meantLines(view);
  if (lines.every((line) => mark.test(line.text))) return rewriteLines(view, lines, (text) => text.replace(mark, "$1"));
  return rewriteLines(view, lines, (text, n) => {
    const bare = kind === "quote" ? text : text.replace(LIST_MARK, "$1");
    return bare.replace(/^\s*/, (indent) => indent + write(n + 1));
  });
}

// The lines become headings of a level; level 0 and the level that they have make them text.
function setHeading(view, level) {
  const lines = meantLines(view);
  const mark = level ? `${"#".repeat(level)} ` : "";
  const already = mark && lines.every((line) => line.text.startsWith(mark));
  return rewriteLines(view, lines, (text) => (already ? "" : mark) + text.replace(/^#{1,6}\s+/, ""));
}

// The level that the selected lines share: 0 is text.
function headingLevel(view) {
  const levels = new Set(meantLines(view).map(({ text }) => /^(#{1,6})\s/.exec(text)?.[1].length ?? 0));
  return levels.size === 1 ? [...levels][0] : undefined;
}

// A block on lines of its own below the cursor's line, with part of it selected.
function insertBlock(view, block, selected) {
  const line = view.state.doc.lineAt(view.state.selection.main.head);
  const before = line.text.trim() ? "\n\n" : "";
  const at = line.text.trim() ? line.to : line.from;
  const after = line.number < view.state.doc.lines ? "\n" : "\n\n";
  const anchor = at + before.length + block.indexOf(selected);
  view.dispatch({
    changes: { from: at, to: line.to, insert: before + block + after },
    selection: { anchor, head: anchor + selected.length },
    userEvent: "input",
    scrollIntoView: true,
  });
  return true;
}

const NEW_TABLE = "| Column 1 | Column 2 |\n| -------- | -------- |\n|          |          |";

// [Words](: then the documents are offered.
function insertLink(view) {
  const { from, to } = view.state.selection.main;
  const words = view.state.doc.sliceString(from, to);
  view.dispatch({
    changes: { from, to, insert: words ? `[${words}]()` : "[[" },
    selection: { anchor: words ? to + 3 : from + 2 },
    userEvent: "input.type",
  });
  return cm.startCompletion(view);
}

// A list item moves in or out with its marker; elsewhere Tab stays what it is: the way to the next control.
function indentItem(view, step) {
  const lines = selectedLines(view);
  if (!lines.some((line) => LIST_MARK.test(line.text))) return false;
  const width = (text) => (/^\s*\d/.test(text) ? 3 : 2);
  return rewriteKeeping(view, lines, (text) =>
    step > 0 ? " ".repeat(width(text)) + text : text.replace(new RegExp(`^ {1,${width(text)}}`), ""),
  );
}

function rewriteKeeping(view, lines, rewrite) {
  const changes = lines.flatMap((line) => {
    const missing = rewrite(line.text).length - line.text.length;
    if (!missing) return [];
    return [
      missing > 0 ? { from: line.from, insert: " ".repeat(missing) } : { from: line.from, to: line.from - missing },
    ];
  });
  view.dispatch({ changes, userEvent: "input.indent" });
  return true;
}

// ---------------------------------------------------------------- the toolbar

// [icon, name, shortcut, what it does]; null parts the groups.
const TOOLS = [
  ["undo", "Undo", "Mod-z", (view) => cm.undo(view)],
  ["redo", "Redo", "Mod-y", (view) => cm.redo(view)],
  null,
  ["format_bold", "Bold", "Mod-b", (view) => toggleMark(view, "**", "bold")],
  ["format_italic", "Italic", "Mod-i", (view) => toggleMark(view, "_", "italic")],
  ["code", "Code", "Mod-e", (view) => toggleMark(view, "`", "code")],
  null,
  ["format_list_bulleted", "Bulleted list", "Mod-Shift-8", (view) => toggleLines(view, "bullets")],
  ["format_list_numbered", "Numbered list", "Mod-Shift-7", (view) => toggleLines(view, "numbers")],
  ["checklist", "Task list", "Mod-Shift-9", (view) => toggleLines(view, "tasks")],
  ["format_quote", "Quote", "Mod-Shift-.", (view) => toggleLines(view, "quote")],
  null,
  ["link", "Link to a document or a page", "Mod-k", insertLink],
  ["table", "Table", "", (view) => insertBlock(view, NEW_TABLE, "Column 1")],
  ["image", "Picture", "", null], // chosen from the disk by whoever has the toolbar
];
const LEVELS = [["0", "Plain text"], ...[1, 2, 3, 4].map((level) => [String(level), `Heading ${level}`])];
const isApple = /Mac|iP(hone|ad)/.test(navigator.platform);

const shortcutName = (keys) =>
  keys
    .replace("Mod", isApple ? "⌘" : "Ctrl")
    .replaceAll("-", "+")
    .toUpperCase()
    .replace("CTRL", "Ctrl")
    .replace("SHIFT", "Shift");

const toolKeys = () => [
  ...TOOLS.filter((tool) => tool?.[2]).map(([, , key, run]) => ({ key, run, preventDefault: true })),
  ...[1, 2, 3, 4].map((level) => ({ key: `Mod-Alt-${level}`, run: (view) => setHeading(view, level) })),
];

// `view()` is asked at each click: the toolbar is there before the editor is, and takes no click until then.
function toolbar(view, picture) {
  const use = (run) => () => {
    run(view());
    view().focus();
  };
  const tool = ([icon, name, key, run]) =>
    el(
      "button.tool",
      { title: key ? `${name} (${shortcutName(key)})` : name, "aria-label": name, onclick: run ? use(run) : picture },
      el("span.icon", { "aria-hidden": "true" }, icon),
    );
  const levels = dropdown("Heading", LEVELS, "", (level) => use((editor) => setHeading(editor, Number(level)))());
  const tableTools = el(
    "span.tabletools",
    { role: "group", "aria-label": "Table" },
    TABLE_TOOLS.map((change) =>
      button(
        change[0],
        use((editor) => useTableTool(editor, change)),
        { title: change[1] },
      ),
    ),
  );
  const node = el(
    "div.row.toolbar",
    { role: "toolbar", "aria-label": "Formatting", onkeydown: moveInToolbar },
    levels,
    TOOLS.map((entry) => (entry ? tool(entry) : el("span.gap"))),
    tableTools,
  );
  oneTabStop(node, levels);
  node.inert = true;
  const show = (editor) => {
    node.inert = false;
    levels.value = headingLevel(editor) ?? "";
    showTableTools(tableTools, editor);
  };
  return { node, show };
}

const toolControls = (node) => [...node.querySelectorAll("button, select")].filter((control) => control.offsetParent);

function oneTabStop(node, chosen) {
  for (const control of node.querySelectorAll("button, select")) control.tabIndex = control === chosen ? 0 : -1;
}

function moveInToolbar(event) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  const controls = toolControls(event.currentTarget);
  const next = controls.at((controls.indexOf(event.target) + step) % controls.length);
  event.preventDefault();
  oneTabStop(event.currentTarget, next);
  next.focus();
}
