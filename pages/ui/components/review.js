// The documents of a change: split, inline or rendered, unchanged parts folded, conversations under their lines.
const KEPT = 3; // unchanged lines that stay around a change
const VIEWS = [
  ["split", "Side by side"],
  ["inline", "Inline"],
  ["rendered", "Rendered"],
];

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector("#root");
  const state = memory(root, () => ({
    view: window.innerWidth > 900 ? "split" : "inline",
    unfolded: new Set(),
    closed: new Set(),
    open: new Set(),
    typed: {},
    sent: {},
    replying: 0,
    writing: null,
  }));
  const act = (what) => setTriggerValue("act", { ...what, head: data.head });
  const may = data.may;
  hear(state, data.heard);

  const page = () => {
    const views = VIEWS.map(([name, text]) =>
      button(
        text,
        () => {
          state.view = name;
          page();
        },
        { key: name, pressed: state.view === name ? "true" : "false" },
      ),
    );
    const jump =
      data.documents.length > 1
        ? el(
            "nav",
            { class: "files", "aria-label": "Documents" },
            data.documents.map((one, n) =>
              el(
                "a",
                {
                  href: `#d${n}`,
                  onclick: (event) => {
                    event.preventDefault();
                    root.querySelector(`#d${n}`)?.scrollIntoView({ behavior: "smooth", block: "start" });
                  },
                },
                el("span", { class: `sign ${one.kind}` }, one.sign),
                one.name,
                one.threads.length ? el("span", { class: "muted small" }, ` · ${one.threads.length}`) : null,
              ),
            ),
          )
        : null;
    refocus(root, () =>
      root.replaceChildren(
        el(
          "div",
          { class: "tools" },
          el("span", { class: "muted small" }, data.summary),
          el("span", { class: "spring" }),
          views,
        ),
        jump || "",
        ...data.documents.map((one, n) => file(root, state, one, n, may, act)),
      ),
    );
  };
  page();
}

function file(root, state, one, n, may, act) {
  const again = () => refocus(root, () => box.replaceWith(file(root, state, one, n, may, act)));
  const shut = state.closed.has(one.path);
  const talk = (thread) => conversation(state, thread, may, act);
  const write = (line, last) => {
    state.writing = { path: one.path, line, last };
    again();
    root.querySelector(`#d${n} .composer textarea`)?.focus();
  };
  const writer = () =>
    composer(state, written(state.writing), {
      hint: state.writing.line
        ? state.writing.last > state.writing.line
          ? `Comment on lines ${state.writing.line} to ${state.writing.last}`
          : `Comment on line ${state.writing.line}`
        : "Comment on this document",
      quote: state.writing.line
        ? () =>
            one.rows
              .filter((row) => row.right >= state.writing.line && row.right <= state.writing.last)
              .map((row) => row.after.map(([, text]) => text).join(""))
              .join("\n")
        : null,
      send: (body, n) => {
        const { line, last } = state.writing;
        act({ do: "comment", path: one.path, line, last, body, n });
      },
      cancel: () => {
        state.writing = null;
        again();
      },
    });
  const here = state.writing && state.writing.path === one.path ? state.writing : null;
  const head = el(
    "header",
    { class: "filehead" },
    el(
      "button",
      {
        type: "button",
        class: "fold",
        "data-key": "fold",
        "aria-expanded": shut ? "false" : "true",
        "aria-label": shut ? "Unfold" : "Fold",
        onclick: () => {
          shut ? state.closed.delete(one.path) : state.closed.add(one.path);
          again();
        },
      },
      shut ? "▸" : "▾",
    ),
    el(
      "span",
      { class: "name" },
      el("strong", {}, one.title),
      el("span", { class: "muted small path" }, one.was ? `${one.was} → ${one.path}` : one.path),
    ),
    badge({ text: one.word, tone: one.tone }),
    el(
      "span",
      { class: "count" },
      el("span", { class: "up" }, `+${one.added}`),
      " ",
      el("span", { class: "down" }, `−${one.removed}`),
    ),
    may.comment ? button("Comment", () => write(0, 0), { title: "Comment on this document as a whole" }) : null,
    may.edit && one.kind !== "deleted"
      ? button("Edit", () => act({ do: "edit", path: one.path }), { kind: "outline" })
      : null,
  );
  const whole = one.threads.filter((thread) => !thread.line);
  const body = shut
    ? null
    : [
        one.problem ? el("div", { class: "problem" }, one.problem) : null,
        one.checks.length
          ? el(
              "div",
              { class: "checks", "aria-label": "Checks" },
              one.checks.map((check) =>
                el(
                  "div",
                  {},
                  badge({
                    text: check.severity === "error" ? "Error" : "Fix",
                    tone: check.severity === "error" ? "bad" : "warn",
                  }),
                  el("span", { class: "muted" }, `Line ${check.line}`),
                  el("span", {}, check.message),
                ),
              ),
            )
          : null,
        one.fields.length
          ? el(
              "table",
              { class: "fields" },
              el(
                "tr",
                {},
                ["Field", "Before", "After"].map((text) => el("th", {}, text)),
              ),
              one.fields.map((field) =>
                el(
                  "tr",
                  {},
                  el("td", { class: "fname" }, field.name),
                  el("td", { class: field.before ? "minus" : "" }, field.before || "–"),
                  el("td", { class: field.after ? "plus" : "" }, field.after || "–"),
                ),
              ),
            )
          : null,
        whole.map(talk),
        here && !here.line ? el("div", { class: "conversation" }, writer()) : null,
        state.view === "rendered"
          ? blocks(state, one, again)
          : lines(state, one, here, may, { again, talk, write, writer }),
      ];
  const box = el("section", { class: "file", id: `d${n}`, "data-key": one.path }, head, body);
  return box;
}

// Rows to draw: unchanged runs are folded unless somebody opened them or speaks about a line in them.
function folded(state, one) {
  const speaking = new Set(one.threads.flatMap((thread) => (thread.line ? [thread.last] : [])));
  if (state.writing && state.writing.path === one.path) speaking.add(state.writing.last);
  const out = [];
  for (let at = 0; at < one.rows.length;) {
    if (one.rows[at].kind !== "equal") {
      out.push(one.rows[at++]);
      continue;
    }
    let end = at;
    while (end < one.rows.length && one.rows[end].kind === "equal") end++;
    const near = (row) => [...speaking].some((line) => Math.abs(line - row.right) <= 1);
    const from = at === 0 ? at : Math.min(end, at + KEPT),
      to = end === one.rows.length ? end : Math.max(from, end - KEPT);
    const name = `${one.path}:${at}`;
    if (to - from < 4 || state.open.has(name)) out.push(...one.rows.slice(at, end));
    else {
      out.push(...one.rows.slice(at, from));
      let hidden = 0;
      for (const row of one.rows.slice(from, to)) {
        if (near(row)) {
          if (hidden) out.push({ kind: "gap", count: hidden, name });
          hidden = 0;
          out.push(row);
        } else hidden++;
      }
      if (hidden) out.push({ kind: "gap", count: hidden, name });
      out.push(...one.rows.slice(to, end));
    }
    at = end;
  }
  return out;
}

function lines(state, one, here, may, { again, talk, write, writer }) {
  const split = state.view === "split" && one.kind !== "added" && one.kind !== "deleted",
    span = split ? 4 : 3;
  if (!one.rows.some((row) => row.kind !== "equal" && row.kind !== "gap") && !one.threads.length && !here)
    return el(
      "div",
      { class: "same" },
      one.fields.length
        ? "The text itself did not change."
        : one.kind === "renamed"
          ? "Only the path changed."
          : "Nothing changed.",
    );
  const pick = (event, line) => {
    const from = here && event.shiftKey ? Math.min(here.line || line, line) : line;
    write(from, here && event.shiftKey ? Math.max(here.last, line) : line);
  };
  const number = (n, right) => {
    const chosen = right && here && n >= here.line && n <= here.last && here.line;
    return right && n && may.comment
      ? el(
          "td",
          { class: `no can${chosen ? " chosen" : ""}` },
          el(
            "button",
            {
              type: "button",
              title: "Comment on this line; with Shift, on several",
              "aria-label": `Comment on line ${n}`,
              onclick: (event) => pick(event, n),
            },
            n,
          ),
        )
      : el("td", { class: "no" }, n || "");
  };
  const rows = [];
  for (const row of folded(state, one)) {
    if (row.kind === "gap") {
      const text = `${row.count} unchanged line${row.count === 1 ? "" : "s"}`;
      rows.push(
        el(
          "tr",
          { class: "gap" },
          el(
            "td",
            { colspan: span },
            row.name
              ? el(
                  "button",
                  {
                    type: "button",
                    onclick: () => {
                      state.open.add(row.name);
                      again();
                    },
                  },
                  `↕ ${text}`,
                )
              : text,
          ),
        ),
      );
      continue;
    }
    const minus = row.kind === "changed" || row.kind === "removed",
      plus = row.kind === "changed" || row.kind === "added";
    if (split)
      rows.push(
        el(
          "tr",
          {},
          number(row.left),
          marked(el("td", { class: row.left ? (minus ? "minus" : "") : "void" }), row.before),
          number(row.right, true),
          marked(el("td", { class: row.right ? (plus ? "plus" : "") : "void" }), row.after),
        ),
      );
    else if (row.kind === "equal")
      rows.push(el("tr", {}, number(row.left), number(row.right, true), marked(el("td"), row.before)));
    else {
      if (minus)
        rows.push(el("tr", {}, number(row.left), number(""), marked(el("td", { class: "minus" }), row.before)));
      if (plus)
        rows.push(el("tr", {}, number(""), number(row.right, true), marked(el("td", { class: "plus" }), row.after)));
    }
    const said = one.threads.filter((thread) => thread.line && row.right && thread.last === row.right);
    const typing = here && here.line && row.right === here.last;
    if (said.length || typing)
      rows.push(
        el(
          "tr",
          { class: "talk" },
          el("td", { colspan: span }, said.map(talk), typing ? el("div", { class: "conversation" }, writer()) : null),
        ),
      );
  }
  const widths = split ? ["46px", "", "46px", ""] : ["46px", "46px", ""];
  return el(
    "table",
    { class: "lines" },
    el(
      "colgroup",
      {},
      widths.map((width) => el("col", { style: width ? { width } : {} })),
    ),
    rows,
  );
}

function blocks(state, one, again) {
  if (!one.rendered.length) return el("div", { class: "same" }, "This file cannot be rendered.");
  const near = one.rendered.map(
    ([kind], n) => kind !== "equal" || [n - 1, n + 1].some((m) => one.rendered[m] && one.rendered[m][0] !== "equal"),
  );
  const out = [];
  let hidden = 0;
  const gap = () => {
    if (hidden)
      out.push(
        el(
          "div",
          { class: "gapline" },
          el(
            "button",
            {
              type: "button",
              onclick: () => {
                state.open.add(`${one.path}:r`);
                again();
              },
            },
            `↕ ${hidden} unchanged block${hidden === 1 ? "" : "s"}`,
          ),
        ),
      );
    hidden = 0;
  };
  one.rendered.forEach(([kind, node], n) => {
    if (!near[n] && !state.open.has(`${one.path}:r`)) {
      hidden++;
      return;
    }
    gap();
    out.push(el("div", { class: `rblock ${kind}` }, prose([node])));
  });
  gap();
  return el("div", { class: "rendered" }, out);
}
