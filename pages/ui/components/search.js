// The search box and its results. Queries go straight to the API and the answers are drawn in place;
// the page runs again only where its token is too old.
const PAUSE = 120; // milliseconds between the last key and the query
const SETTLED = 2000; // milliseconds after which a question counts as asked
const USES = "a, [data-key=whole], [data-key=link], [data-key=citation], [data-key=right]"; // of a hit
const SHOWN = 10; // documents
const LOOK = 2000; // milliseconds between two looks at vectors that are still being computed

export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  const root = parentElement.querySelector("#root");
  const state = memory(root, () => ({
    asked: data.asked,
    found: data.found,
    direct: data.direct, // the token of the page
    open: { all: "", filters: false, ...sets("why", "menu", "more", "whole", "reported", "told", "watched", "pinned") },
    request: null,
    timer: 0,
    settling: 0,
    box: null,
    serial: -1,
  }));
  state.renew = (asked) => setStateValue("asked", { ...asked, renewed: Date.now() });
  state.send = setTriggerValue;
  state.examples = data.examples || [];
  state.may = data.may || {};
  state.answers = data.answers; // whether there is a model that writes answers
  if (!state.box) state.pending = data.pending; // later ones come with answers, and by asking
  state.kept = data.kept; // for how many days questions are kept, and whether one's own are; null where none is
  const left = state.asked.q && !data.asked.q && !window.location.search; // the menu led here again, to an empty box
  if (data.serial !== state.serial || left) {
    state.serial = data.serial;
    state.asked = data.asked;
    state.found = data.found;
    state.direct = data.direct;
  }
  if (!state.box) build(root, state, data);
  const isTyping = document.activeElement?.shadowRoot?.activeElement === state.box;
  if (!isTyping && state.box.value !== state.asked.q) state.box.value = state.asked.q;
  draw(root, state);
}

const sets = (...names) => Object.fromEntries(names.map((name) => [name, new Set()]));

// ------------------------------------------------------------ the box

// Built once; later draws only replace the results, so that the cursor stays.
function build(root, state, data) {
  state.box = searchBox(root, state, data.placeholder);
  const used = ({ target }) => {
    if (target.closest(".card a")) keepPlace();
    if (target.closest(`.card :is(${USES})`)) settle(state, target.closest(".card").dataset.key);
  };
  state.results = el("div", { onclick: used, onauxclick: used });
  state.progress = el("div.line");
  state.waiting = el("span.pending.muted.small");
  const history = el("input", {
    type: "checkbox",
    checked: state.asked.history,
    onchange: (event) => ask(root, state, { history: event.target.checked }),
  });
  state.day = el("input", {
    type: "date",
    value: state.asked.as_of || "",
    "data-key": "as_of",
    "aria-label": "As of a day",
    onchange: (event) => ask(root, state, { as_of: event.target.value }),
  });
  root.replaceChildren(
    el(
      "div.top",
      el(
        "div.field",
        el("span.glass", "⌕"),
        state.box,
        el("kbd", { title: "Press / or Ctrl+K to come back here" }, "/"),
      ),
      state.progress,
    ),
    state.results, // before every filter, also for the Tab key
    el(
      "label.history",
      { title: "Also retired, superseded and not yet effective documents. They are marked." },
      history,
      "Include history",
    ),
    (state.note = el("p.kept.muted.small")),
  );
  if (!state.asked.q) setTimeout(() => state.box.focus(), 50);
}

function searchBox(root, state, placeholder) {
  const askNow = () => {
    clearTimeout(state.timer);
    ask(root, state, { q: box.value });
  };
  const askSoon = () => {
    clearTimeout(state.timer);
    state.timer = setTimeout(askNow, PAUSE);
  };
  const onkeydown = (event) => {
    if (event.key === "Enter") {
      askNow();
      settle(state);
    }
    if (event.key === "ArrowDown") {
      event.preventDefault();
      root.querySelector("article a")?.focus();
    }
  };
  const box = el("input", {
    type: "search",
    class: "box",
    placeholder,
    "aria-label": "Search the knowledge base",
    "data-key": "search",
    oninput: askSoon,
    onkeydown,
  });
  box.value = state.asked.q;
  return box;
}

// ------------------------------------------------------------ asking

async function ask(root, state, change) {
  const asked = { ...state.asked, ...change };
  if (change.q !== undefined && change.q.trim() !== state.asked.q.trim()) asked.filters = {};
  state.asked = asked;
  showInAddressBar(asked);
  state.request?.abort();
  if (!asked.q.trim()) {
    state.found = null;
    draw(root, state);
    return;
  }
  state.progress.classList.add("busy");
  await find(root, state, asked);
}

async function find(root, state, asked) {
  const { signal } = (state.request = new AbortController());
  const { value, error, cure, old } = await api(`page/search?${parameters(asked)}`, state.direct, { signal });
  if (old) return state.renew(asked); // a rerun of the page brings another token, and the answer
  if (signal.aborted) return;
  state.found = error ? { error, cure } : value;
  if (value) state.pending = value.pending;
  draw(root, state);
}

function parameters(asked) {
  const parts = new URLSearchParams({ q: asked.q });
  if (asked.history) parts.set("history", "true");
  if (asked.as_of) parts.set("as_of", asked.as_of);
  for (const [facet, values] of Object.entries(asked.filters || {}))
    for (const value of values) parts.append(facet, value);
  return parts.toString();
}

const showInAddressBar = (asked) =>
  window.history.replaceState(window.history.state, "", asked.q ? `?${parameters(asked)}` : window.location.pathname);

// Back from a document leads to where somebody was in the list, not to its top.
const PLACE = "concord place";
const scroller = () => document.querySelector('[data-testid="stMain"]');
const here = () => window.location.pathname + window.location.search;

function keepPlace() {
  sessionStorage.setItem(PLACE, JSON.stringify({ at: here(), top: scroller()?.scrollTop || 0 }));
}

function findPlace() {
  const kept = JSON.parse(sessionStorage.getItem(PLACE) || "null");
  if (!kept || kept.at !== here()) return;
  sessionStorage.removeItem(PLACE);
  for (const wait of [0, 150, 500]) setTimeout(() => scroller()?.scrollTo({ top: kept.top }), wait);
}

// ------------------------------------------------------------ by words so far

// One line, drawn in place: how far the vectors are. When all are there, the question is asked again.
function drawPending(root, state) {
  const { pending, waiting } = state;
  const share = pending ? Math.round((100 * pending.done) / pending.total) : 0;
  const bar = el("span.track", el("span", { style: { width: `${share}%` } }));
  waiting.replaceChildren(...(pending ? [pending.stopped ? "" : bar, pending.message] : []));
  if (pending && !state.looking) state.looking = setTimeout(() => look(root, state), LOOK);
}

async function look(root, state) {
  state.looking = 0;
  const { value, old } = await api("page/pending", state.direct);
  if (old || !root.isConnected) return; // the next question brings the news
  if (value !== undefined) state.pending = value;
  if (!state.pending && state.asked.q.trim()) find(root, state, state.asked);
  drawPending(root, state);
}

// ------------------------------------------------------------ what is kept of a question

const settleSoon = (root, state) => {
  clearTimeout(state.settling);
  state.settling = setTimeout(() => {
    settle(state);
    answerIfWanted(root, state);
  }, SETTLED);
};

// Tell the server that the question is finished, or to which document it led. Nobody waits for the answer.
function settle(state, opened = "") {
  clearTimeout(state.settling);
  const q = state.asked.as_of ? "" : state.asked.q.trim(); // what was known earlier is nothing that is missing now
  if (!q || !state.kept?.mine || (q === state.settled && !opened)) return;
  state.settled = q;
  api("page/asked", state.direct, { body: { q, opened }, keepalive: true });
}

function drawNote(state) {
  const { kept, note } = state;
  const decide = (keep) => button(keep ? "Keep mine" : "Leave mine out", () => state.send("consent", { keep }));
  const kind = kept?.mine
    ? `Questions are kept for ${kept.days} days, without names, so that owners see what is missing. `
    : "Your questions are not kept. ";
  note.replaceChildren(...(kept ? [kind, decide(!kept.mine)] : []));
}

// Links that put a query into the box and run it.
const queryLinks = (root, state, queries, separator) =>
  queries.map((query, n) => {
    const run = () => {
      state.box.value = query;
      ask(root, state, { q: query });
    };
    return [n ? separator : "", actionLink({}, "#", run, query)];
  });

const examples = (root, state) => el("p.muted", "For example: ", queryLinks(root, state, state.examples, " · "));

// ------------------------------------------------------------ results

function draw(root, state) {
  const { found, results, progress } = state;
  progress.classList.remove("busy");
  drawNote(state);
  if (found) settleSoon(root, state);
  drawPending(root, state);
  if (!found) results.replaceChildren(state.examples.length ? examples(root, state) : "", state.waiting);
  else if (found.error)
    results.replaceChildren(
      el("div.notice.bad", { role: "alert" }, el("p", linked(found.error, found.cure))),
      state.asked.as_of ? backToNow(root, state) : "",
    );
  else {
    refocus(root, () => results.replaceChildren(layout(root, state)));
    findPlace();
  }
}

// The sentence of a refusal, in which what helps links the page where it is done, for those who can do it.
function linked(error, cure) {
  const at = cure?.url ? error.lastIndexOf(cure.does) : -1;
  if (at < 0) return [error];
  const link = el("a", { href: cure.url, target: "_self" }, cure.does);
  return [error.slice(0, at), link, error.slice(at + cure.does.length)];
}

function layout(root, state) {
  const { found } = state;
  const facets = drawFacets(root, state);
  const main = el(
    "section.found",
    { "aria-label": "Results" },
    found.as_of ? pastNotice(root, state) : null,
    summaryBar(root, state, facets),
    found.also?.length ? el("p.muted.small.also", "Also searched: ", found.also.join(" · ")) : null,
    found.warnings.map((text) => el("div.notice.bad", { role: "alert" }, el("p", text))),
    found.doubt && found.fits ? el("div.notice", el("p", found.doubt)) : null,
    found.nearest.length ? didYouMean(root, state) : null,
    found.groups.length ? weakNotice(root, state) : nothingFound(root, state),
    state.answers && found.fits && found.groups.length ? answerBlock(root, state) : null,
    documents(root, state),
    el(
      "div.foot",
      (!found.fits && found.groups.length) || found.as_of ? null : reportForm(state),
      found.as_of ? null : watchButton(state),
      found.groups.length && state.may.analyse ? timing(found) : null,
    ),
  );
  return el("div.layout", main, facets); // the first result is one Tab away, the filters come after
}

// The first documents, and the rest on demand.
function documents(root, state) {
  const { found, open } = state;
  const question = parameters(state.asked); // with its filters: another one begins with the first documents again
  const rest = open.all === question ? [] : found.groups.slice(SHOWN);
  const showAll = () => {
    open.all = question;
    draw(root, state);
  };
  return [
    found.groups.slice(0, found.groups.length - rest.length).map((group) => drawDocument(root, state, group)),
    rest.length
      ? button(rest.length === 1 ? "Show 1 more document" : `Show ${rest.length} more documents`, showAll, {
          kind: "outline",
          key: "all",
        })
      : null,
  ];
}

function drawFacets(root, state) {
  const choose = (key, value, on) => {
    const chosen = state.asked.filters?.[key] || [];
    const values = on ? [...chosen, value] : chosen.filter((other) => other !== value);
    ask(root, state, { filters: { ...state.asked.filters, [key]: values } });
  };
  const drawOption = (facet, option, isFiltered) =>
    el(
      "label",
      { title: option.label },
      el("input", {
        type: "checkbox",
        checked: option.on,
        "data-key": `${facet.key}=${option.value}`,
        onchange: (event) => choose(facet.key, option.value, event.target.checked),
      }),
      el("span.name", option.label),
      el(
        "span.n",
        { title: option.on || !isFiltered ? "Documents in the list" : "Documents near your question" },
        option.count,
      ),
    );
  const facets = state.found.facets.filter((facet) => facet.options.length);
  return el(
    "nav",
    { class: `facets${state.open.filters ? " open" : ""}`, "aria-label": "Filters" },
    el(
      "div.facet",
      el("h2", "As of"),
      el("label.day", { title: "Search the documents as they were at the end of a day" }, state.day),
    ),
    facets.map((facet) =>
      el(
        "div.facet",
        el("h2", facet.title),
        facet.options.map((option) =>
          drawOption(
            facet,
            option,
            facet.options.some(({ on }) => on),
          ),
        ),
      ),
    ),
  );
}

function summaryBar(root, state, facets) {
  const { found, open } = state;
  const toggle = () => {
    open.filters = !open.filters;
    facets.classList.toggle("open", open.filters);
  };
  const isFiltered = found.facets.some((facet) => facet.options.some((option) => option.on));
  return el(
    "div.row.bar",
    el("span.muted", found.summary),
    found.as_of ? null : state.waiting,
    el("span.spring"),
    button("Filters", toggle, { kind: "outline filters-toggle", key: "filters" }),
    isFiltered ? button("Clear filters", () => ask(root, state, { filters: {} })) : null,
  );
}

const pastNotice = (root, state) =>
  el(
    "div.notice.past",
    { role: "status" },
    el("span", `As of ${state.found.as_of}. Documents may have changed since.`),
    backToNow(root, state),
  );

function backToNow(root, state) {
  const leave = () => {
    state.day.value = "";
    ask(root, state, { as_of: "" });
  };
  return button("Back to now", leave, { kind: "outline", key: "now" });
}

function weakNotice(root, state) {
  const { fits, notice } = state.found;
  if (fits || state.found.as_of) return null;
  return el(
    "div.notice.doubt",
    { role: "status" },
    el("h2", "Nothing here answers this well"),
    el("p.muted", notice),
    reportForm(state),
  );
}

// Words that no document uses, spelt as documents do; nothing is searched for before a click.
const didYouMean = (root, state) =>
  el("p.meant", { role: "status" }, "Did you mean ", queryLinks(root, state, state.found.nearest, " or "), "?");

function nothingFound(root, state) {
  const { advice } = state.found;
  return el("div.empty", el("div.glyph", "∅"), el("h2", "Nothing found"), el("p.muted", advice));
}

// One document: its best passage, and the others on demand.
function drawDocument(root, state, group) {
  const [best, ...others] = group.passages;
  return el(
    "article.card",
    { "data-key": group.doc },
    el("h2", inside({ "data-key": "title" }, documentHref(best.place), group.title)),
    el("div.row.meta", badge({ text: group.type }), group.badges.map(badge), el("span", group.about)),
    drawPassage(state, best),
    others.length ? otherPassages(root, state, group.doc, others) : el("div"),
  );
}

function otherPassages(root, state, doc, others) {
  const opened = state.open.more;
  const box = el("div.others");
  const fill = () =>
    refocus(root, () =>
      box.replaceChildren(
        ...(opened.has(doc) ? [...others.map((passage) => drawPassage(state, passage)), hide] : [show]),
      ),
    );
  const show = button(
    others.length === 1 ? "1 more passage here" : `${others.length} more passages here`,
    () => {
      opened.add(doc);
      fill();
    },
    { key: "more" },
  );
  const hide = button(
    "Show the best passage only",
    () => {
      opened.delete(doc);
      fill();
    },
    { key: "more" },
  );
  fill();
  return box;
}

function drawPassage(state, passage) {
  const { chunk, heading, place, citation } = passage;
  const opened = state.open.why;
  const href = documentHref(place);
  const [link, cited] = [href, documentHref(passage.cited)].map((path) => new URL(path, window.location.origin).href);
  const drawer = el("div");
  const toggle = () => {
    opened.has(chunk) ? opened.delete(chunk) : opened.add(chunk);
    showWhy();
  };
  const whyButton = button("Why this rank", toggle, { key: "why" });
  const showWhy = () => {
    whyButton.setAttribute("aria-expanded", opened.has(chunk));
    drawer.replaceChildren(...(opened.has(chunk) ? [explain(passage.why)] : []));
  };
  showWhy();
  const body = el("div");
  const isWhole = () => state.open.whole.has(chunk);
  const turn = () => {
    isWhole() ? state.open.whole.delete(chunk) : state.open.whole.add(chunk);
    showBody();
  };
  const wholeButton = passage.whole ? button("Show whole passage", turn, { key: "whole" }) : null;
  const showBody = () => {
    body.replaceChildren(
      snippet(isWhole() && passage.whole ? { segments: passage.whole, cut: [false, false] } : passage),
    );
    if (wholeButton) wholeButton.textContent = isWhole() ? "Show less" : "Show whole passage";
    wholeButton?.setAttribute("aria-expanded", isWhole());
  };
  showBody();
  return el(
    "div.passage",
    { "data-key": chunk },
    heading.length ? el("div.crumb", heading.join(" › ")) : null,
    body,
    alsoIn(passage.also),
    el(
      "div.row.actions",
      inside({ class: "button", "data-key": "open" }, href, "Open here"),
      wholeButton,
      menu(state.open.menu, chunk, [
        whyButton,
        button("Copy link", (event) => copy(link, event.target), { key: "link" }),
        button("Copy citation", (event) => copy(`${citation} ${cited}`, event.target), { key: "citation" }),
        state.found.as_of ? null : feedbackButtons(state, passage),
        state.may.pin && !passage.pinned && !state.found.as_of ? pinButton(state, passage) : null,
      ]),
    ),
    drawer,
  );
}

// What is done with a passage less often; `opened` are the names of those that are open.
function menu(opened, name, items) {
  const box = el("details.menu", el("summary.button.plain", { "data-key": "menu" }, "More"), el("div.row", items));
  box.open = opened.has(name);
  box.addEventListener("toggle", () => opened[box.open ? "add" : "delete"](name));
  return box;
}

// What each leg gave to a passage's score.
function explain({ legs, sentence }) {
  const bar = (leg) => el("div", { style: { width: `${Math.round(100 * leg.share)}%`, background: leg.color } });
  return el(
    "div.why",
    el(
      "table",
      el("tr", ...["Leg", "Rank", "Score", "Gives", ""].map((head) => el("th", head))),
      legs.map((leg) =>
        el(
          "tr",
          el(
            "td",
            el("span.dot", { style: { background: leg.color } }),
            leg.label,
            leg.note ? el("div.muted.small", leg.note) : null,
          ),
          [leg.rank, leg.score, `${leg.arithmetic} = ${leg.gives}`].map((value) => el("td", value)),
          el("td.grow", el("div.track", bar(leg))),
        ),
      ),
    ),
    el("div.small", { style: { marginTop: "8px" } }, sentence),
  );
}

// ------------------------------------------------------------ below the results

// "Still right" and "This is wrong" tell the owner of a passage, once each.
function feedbackButtons(state, { chunk, place }) {
  const { told } = state.open;
  const box = el("span.row.feedback");
  const tell = (kind, note = "") => {
    state.send("feedback", { kind, note, ...place });
    told.add(chunk);
    draw();
  };
  const askWhat = () => {
    const hint = "What is wrong?";
    const note = el("input", { type: "text", placeholder: hint, "aria-label": hint });
    const insist = () => {
      note.placeholder = "Write what is wrong, then tell the owner";
      note.setAttribute("aria-invalid", "true");
      note.focus();
    };
    const send = () => (note.value.trim() ? tell("wrong", note.value) : insist());
    note.addEventListener("keydown", (event) => event.key === "Enter" && send());
    box.replaceChildren(note, button("Tell the owner", send, { kind: "outline" }), button("Cancel", draw));
    note.focus();
  };
  const draw = () =>
    told.has(chunk)
      ? box.replaceChildren(el("span.muted.small", "Thank you. The owner is told."))
      : box.replaceChildren(
          button("Still right", () => tell("right"), { key: "right" }),
          button("This is wrong", askWhat, { key: "wrong" }),
        );
  draw();
  return box;
}

// A pin is proposed as a change; whoever writes submits it for review.
function pinButton(state, { chunk, heading, place }) {
  const { query } = state.found;
  const { pinned } = state.open;
  const thanks = () => el("span.muted.small", "Proposed. Submit it under Words.");
  const pin = (event) => {
    state.send("pin", { query, doc: place.doc, section: heading.at(-1) || "" });
    pinned.add(`${query} ${chunk}`);
    event.target.replaceWith(thanks());
  };
  if (pinned.has(`${query} ${chunk}`)) return thanks();
  return button("Pin this for this question", pin, { key: "pin" });
}

// A watched question is searched again after every merge.
function watchButton(state) {
  const { query } = state.found;
  const { watched } = state.open;
  const watch = (event) => {
    state.send("watch", { query });
    watched.add(query);
    event.target.replaceWith(thanks());
  };
  const thanks = () => el("span.muted", "Your inbox will say when the answers change.");
  return watched.has(query) ? thanks() : button("Watch this question", watch, { key: "watch" });
}

// "Not what you were looking for?" tells the owners of the documents, once per query.
function reportForm(state) {
  const { query, groups } = state.found;
  const { reported } = state.open;
  const box = el("div");
  const thank = () => box.replaceChildren(el("span.muted", "Thank you. The owners will see this question."));
  const askWhat = () => {
    const note = el("input", {
      type: "text",
      placeholder: "What did you expect to find? (optional)",
      "aria-label": "What did you expect to find?",
      onkeydown: (event) => {
        if (event.key === "Enter") report();
      },
    });
    const report = () => {
      state.send("report", { note: note.value, query, hits: groups.length });
      reported.add(query);
      thank();
    };
    box.replaceChildren(el("div.report", note, button("Tell the owners", report, { kind: "outline" })));
    note.focus();
  };
  const question = state.found.fits ? "Not what you were looking for?" : "Tell the owners what is missing";
  reported.has(query)
    ? thank()
    : box.append(button(question, askWhat, { kind: state.found.fits ? "plain" : "outline" }));
  return box;
}

function timing({ stages, how }) {
  const total = stages.reduce((sum, stage) => sum + stage.ms, 0) || 1;
  const bar = (stage) =>
    el("div", {
      title: `${stage.label}: ${stage.ms.toFixed(2)} ms`,
      style: { width: `${(100 * stage.ms) / total}%`, background: stage.color },
    });
  const key = (stage) =>
    el(
      "span",
      el("span.dot", { style: { background: stage.color } }),
      `${stage.label} ${stage.ms.toFixed(1)} ms${stage.note ? `, ${stage.note}` : ""}`,
    );
  return el(
    "details",
    el("summary", `How this search ran: ${how}`),
    el("div.stages", stages.map(bar)),
    el("div.row.legend", stages.map(key)),
  );
}
