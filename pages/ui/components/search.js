const EXAMPLES = [
  "how long do we keep SAR records",
  "FN-22",
  "CU*BASE",
  "labels do not print",
  "who signs for $200,000",
];

// The search box and what it finds. Questions go straight to the server and answers are drawn in place;
// where the route cannot be reached (a proxy hides it), this and all later questions go through Python instead.
export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  const root = parentElement.querySelector("#root");
  const state = memory(root, () => ({
    asked: data.asked,
    found: data.found,
    direct: data.direct,
    open: { why: new Set(), more: new Set(), told: new Set(), filters: false },
    flight: null,
    timer: 0,
    box: null,
    serial: -1,
  }));
  state.send = { ask: (asked) => setStateValue("asked", asked), trigger: setTriggerValue };
  if (data.serial !== state.serial) {
    state.serial = data.serial;
    state.asked = data.asked;
    state.found = data.found;
    state.direct = state.unreachable ? null : data.direct;
  }
  if (!state.box) build(root, state, data);
  if (document.activeElement?.shadowRoot?.activeElement !== state.box && state.box.value !== state.asked.q)
    state.box.value = state.asked.q;
  draw(root, state);
}

function build(root, state, data) {
  state.box = el("input", {
    type: "search",
    class: "box",
    placeholder: data.placeholder,
    "aria-label": "Search the knowledge base",
    "data-key": "search",
    oninput: () => {
      clearTimeout(state.timer);
      state.timer = setTimeout(() => ask(root, state, { q: state.box.value }), 120);
    },
    onkeydown: (event) => {
      if (event.key === "Enter") {
        clearTimeout(state.timer);
        ask(root, state, { q: state.box.value });
      }
      if (event.key === "ArrowDown") {
        event.preventDefault();
        root.querySelector("article a")?.focus();
      }
    },
  });
  state.box.value = state.asked.q;
  const history = el("input", {
    type: "checkbox",
    checked: state.asked.history,
    onchange: (event) => ask(root, state, { history: event.target.checked }),
  });
  state.out = el("div", {});
  state.line = el("div", { class: "line" });
  root.replaceChildren(
    el(
      "div",
      { class: "top" },
      el(
        "div",
        { class: "field" },
        el("span", { class: "glass" }, "⌕"),
        state.box,
        el("kbd", { title: "Press / or Ctrl+K to come back here" }, "/"),
      ),
      el(
        "label",
        { class: "history", title: "Also retired, superseded and not yet effective documents. They are marked." },
        history,
        "Include history",
      ),
      state.line,
    ),
    state.out,
  );
  if (!state.asked.q) setTimeout(() => state.box.focus(), 50);
}

async function ask(root, state, change) {
  const asked = { ...state.asked, ...change };
  if (change.q !== undefined && change.q.trim() !== state.asked.q.trim()) asked.filters = {};
  state.asked = asked;
  remember(asked);
  state.flight?.abort();
  if (!state.direct) state.send.ask(asked); // an empty box too: the same question afterwards must be news to Python
  if (!asked.q.trim()) {
    state.found = null;
    draw(root, state);
    return;
  }
  state.line.classList.add("busy");
  if (!state.direct) return;
  const flight = (state.flight = new AbortController());
  try {
    const answer = await fetch(`/api/find?${address(asked)}`, {
      signal: flight.signal,
      headers: { Authorization: `Bearer ${state.direct}` },
    });
    if (!answer.ok || !answer.headers.get("content-type")?.includes("json")) {
      throughPython(state, asked, answer.status !== 401);
      return;
    }
    state.found = await answer.json();
    draw(root, state);
  } catch (error) {
    if (error.name !== "AbortError") throughPython(state, asked, true);
  }
}

// An old token (401) is replaced by Python's answer; a route that is not there stays away.
function throughPython(state, asked, unreachable) {
  state.direct = null;
  state.unreachable = unreachable;
  state.send.ask(asked);
}

const address = (asked) => {
  const parts = new URLSearchParams();
  parts.set("q", asked.q);
  if (asked.history) parts.set("history", "true");
  for (const [facet, values] of Object.entries(asked.filters || {}))
    for (const value of values) parts.append(facet, value);
  return parts.toString();
};
const remember = (asked) =>
  window.history.replaceState(window.history.state, "", asked.q ? `?${address(asked)}` : window.location.pathname);

function draw(root, state) {
  state.line.classList.remove("busy");
  const data = state.found;
  const open = state.open;
  if (!data) {
    state.out.replaceChildren(
      el(
        "p",
        { class: "muted" },
        "For example: ",
        EXAMPLES.map((text, n) => [
          n ? " · " : "",
          el(
            "a",
            {
              href: "#",
              onclick: (event) => {
                event.preventDefault();
                state.box.value = text;
                ask(root, state, { q: text });
              },
            },
            text,
          ),
        ]),
      ),
    );
    return;
  }
  if (data.error) {
    state.out.replaceChildren(el("div", { class: "notice bad", role: "alert" }, el("p", {}, data.error)));
    return;
  }
  const setTriggerValue = state.send.trigger;
  const path = (passage) => `/documents?${new URLSearchParams(passage.place)}`;
  const link = (passage) => new URL(path(passage), window.location.origin).href;

  const choose = (facet, value, on) => {
    const filters = { ...(state.asked.filters || {}) };
    filters[facet] = on ? [...(filters[facet] || []), value] : (filters[facet] || []).filter((v) => v !== value);
    ask(root, state, { filters });
  };

  const facets = el(
    "nav",
    { class: `facets${open.filters ? " open" : ""}`, "aria-label": "Filters" },
    data.facets
      .filter((facet) => facet.options.length)
      .map((facet) =>
        el(
          "div",
          { class: "facet" },
          el("h4", {}, facet.title),
          facet.options.map((option) =>
            el(
              "label",
              { title: option.label },
              el("input", {
                type: "checkbox",
                checked: option.on,
                "data-key": `${facet.key}=${option.value}`,
                onchange: (event) => choose(facet.key, option.value, event.target.checked),
              }),
              el("span", { class: "name" }, option.label),
              el("span", { class: "n", title: "Documents near your question" }, option.count),
            ),
          ),
        ),
      ),
  );

  const marked = (segments, cut) =>
    el(
      "div",
      { class: "text" },
      cut[0] ? "… " : null,
      segments.map(([text, matched, best]) => {
        const inner = matched ? el("mark", {}, text) : document.createTextNode(text);
        return best ? el("span", { class: "best" }, inner) : inner;
      }),
      cut[1] ? " …" : null,
    );

  const why = (passage) =>
    el(
      "div",
      { class: "why" },
      el(
        "table",
        {},
        el(
          "tr",
          {},
          ["Leg", "Rank", "Score", "Scaled", "Weight", "Gives"].map((head) => el("th", {}, head)),
        ),
        passage.why.legs.map((leg) =>
          el(
            "tr",
            {},
            el("td", {}, el("span", { class: "dot", style: { background: leg.color } }), leg.label),
            el("td", {}, leg.rank),
            el("td", {}, leg.score),
            el("td", {}, leg.scaled),
            el("td", {}, leg.weight),
            el(
              "td",
              { class: "grow" },
              el(
                "div",
                { class: "track" },
                el("div", { style: { width: `${Math.round(100 * leg.share)}%`, background: leg.color } }),
              ),
            ),
          ),
        ),
      ),
      el("div", { class: "small", style: { marginTop: "8px" } }, passage.why.sentence),
    );

  const passage = (one) => {
    const box = el(
      "div",
      { class: "passage", "data-key": one.chunk },
      one.heading.length ? el("div", { class: "crumb" }, one.heading.join(" › ")) : null,
      marked(one.segments, one.cut),
    );
    const drawer = el("div", {});
    const draw = () => drawer.replaceChildren(...(open.why.has(one.chunk) ? [why(one)] : []));
    draw();
    const toggle = button(
      "Why this rank",
      () => {
        open.why.has(one.chunk) ? open.why.delete(one.chunk) : open.why.add(one.chunk);
        toggle.setAttribute("aria-expanded", open.why.has(one.chunk));
        draw();
      },
      { key: "why" },
    );
    toggle.setAttribute("aria-expanded", open.why.has(one.chunk));
    box.append(
      el(
        "div",
        { class: "row actions" },
        inside(
          { class: "button", "data-key": "open" },
          path(one),
          () => setTriggerValue("open", one.place),
          "Open here",
        ),
        toggle,
        button("Copy link", (event) => copy(link(one), event.target), { key: "link" }),
        button("Copy citation", (event) => copy(`${one.citation} ${link(one)}`, event.target), { key: "citation" }),
      ),
      drawer,
    );
    return box;
  };

  const card = (group) => {
    const [first, ...rest] = group.passages;
    const more = el("div", {});
    const draw = () =>
      refocus(root, () =>
        more.replaceChildren(...(!rest.length ? [] : open.more.has(group.doc) ? [...rest.map(passage), hide] : [show])),
      );
    const show = button(
      rest.length === 1 ? "1 more passage here" : `${rest.length} more passages here`,
      () => {
        open.more.add(group.doc);
        draw();
      },
      { key: "more" },
    );
    const hide = button(
      "Show the best passage only",
      () => {
        open.more.delete(group.doc);
        draw();
      },
      { key: "more" },
    );
    draw();
    return el(
      "article",
      { class: "card", "data-key": group.doc },
      el(
        "h3",
        {},
        inside({ "data-key": "title" }, path(first), () => setTriggerValue("open", first.place), group.title),
      ),
      el(
        "div",
        { class: "row meta" },
        badge({ text: group.type }),
        group.badges.map(badge),
        el("span", {}, group.about),
      ),
      passage(first),
      more,
    );
  };

  const reported = el("div", {});
  const thank = () =>
    reported.replaceChildren(el("span", { class: "muted" }, "Thank you. The owners will see this question."));
  const report = () => {
    const note = el("input", {
      type: "text",
      placeholder: "What did you expect to find? (optional)",
      "aria-label": "What did you expect to find?",
    });
    const send = () => {
      setTriggerValue("report", { note: note.value, query: data.query, hits: data.groups.length });
      open.told.add(data.query);
      thank();
    };
    note.addEventListener("keydown", (event) => {
      if (event.key === "Enter") send();
    });
    reported.replaceChildren(
      el("div", { class: "report" }, note, button("Tell the owners", send, { kind: "outline" })),
    );
    note.focus();
  };
  open.told.has(data.query) ? thank() : reported.append(button("Not what you were looking for?", report));

  const total = data.stages.reduce((sum, stage) => sum + stage.ms, 0) || 1;
  const timing = el(
    "details",
    {},
    el("summary", {}, `How this search ran: ${data.how}`),
    el(
      "div",
      { class: "stages" },
      data.stages.map((stage) =>
        el("div", {
          title: `${stage.label}: ${stage.ms.toFixed(2)} ms`,
          style: { width: `${(100 * stage.ms) / total}%`, background: stage.color },
        }),
      ),
    ),
    el(
      "div",
      { class: "legend" },
      data.stages.map((stage) =>
        el(
          "span",
          {},
          el("span", { class: "dot", style: { background: stage.color } }),
          `${stage.label} ${stage.ms.toFixed(1)} ms${stage.note ? `, ${stage.note}` : ""}`,
        ),
      ),
    ),
  );

  const filterButton = button(
    "Filters",
    () => {
      open.filters = !open.filters;
      facets.classList.toggle("open", open.filters);
    },
    { kind: "outline", key: "filters" },
  );
  filterButton.classList.add("filters-toggle");

  const main = el(
    "main",
    {},
    el(
      "div",
      { class: "bar" },
      el("span", { class: "muted" }, data.summary),
      el("span", { class: "spring" }),
      filterButton,
      data.facets.some((facet) => facet.options.some((option) => option.on))
        ? button("Clear filters", () => ask(root, state, { filters: {} }))
        : null,
    ),
    data.warnings.map((text) => el("div", { class: "notice bad", role: "alert" }, el("p", {}, text))),
    data.groups.length && data.notice
      ? el(
          "div",
          { class: "notice" },
          el("p", {}, data.notice),
          data.nearest.length
            ? el(
                "p",
                { class: "small" },
                "Words that look like yours: ",
                data.nearest.map((word, n) => [
                  n ? ", " : "",
                  el(
                    "a",
                    {
                      href: "#",
                      onclick: (event) => {
                        event.preventDefault();
                        ((state.box.value = word), ask(root, state, { q: word }));
                      },
                    },
                    word,
                  ),
                ]),
              )
            : null,
        )
      : null,
    data.groups.length
      ? null
      : el(
          "div",
          { class: "empty" },
          el("div", { class: "glyph" }, "∅"),
          el("h3", {}, "Nothing found"),
          el("p", { class: "muted" }, data.advice),
          data.nearest.length
            ? el(
                "p",
                {},
                "Did you mean ",
                data.nearest.map((word, n) => [
                  n ? " or " : "",
                  el(
                    "a",
                    {
                      href: "#",
                      onclick: (event) => {
                        event.preventDefault();
                        ((state.box.value = word), ask(root, state, { q: word }));
                      },
                    },
                    word,
                  ),
                ]),
                "?",
              )
            : null,
        ),
    data.groups.map(card),
    el("div", { class: "foot" }, reported, data.groups.length ? timing : null),
  );

  refocus(root, () => state.out.replaceChildren(el("div", { class: "layout" }, facets, main)));
}
