export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  const root = parentElement.querySelector("#root");
  const open = memory(root, () => ({ why: new Set(), more: new Set(), filters: false }));
  const address = (passage) => new URL(passage.link, window.location.origin).href;

  const choose = (facet, value, on) => {
    const filters = Object.fromEntries(data.facets.map((one) => [one.key, one.options.filter((o) => o.on).map((o) => o.value)]));
    filters[facet] = on ? [...filters[facet], value] : filters[facet].filter((v) => v !== value);
    setStateValue("filters", { ...filters, for: data.query });
  };

  const facets = el("nav", { class: `facets${open.filters ? " open" : ""}`, "aria-label": "Filters" }, data.facets.filter((facet) => facet.options.length).map((facet) =>
    el("div", { class: "facet" }, el("h4", {}, facet.title), facet.options.map((option) =>
      el("label", { title: option.label },
        el("input", { type: "checkbox", checked: option.on, onchange: (event) => choose(facet.key, option.value, event.target.checked) }),
        el("span", { class: "name" }, option.label), el("span", { class: "n" }, option.count))))));

  const marked = (segments, cut) => el("div", { class: "text" }, cut[0] ? "… " : null, segments.map(([text, matched, best]) => {
    const inner = matched ? el("mark", {}, text) : document.createTextNode(text);
    return best ? el("span", { class: "best" }, inner) : inner;
  }), cut[1] ? " …" : null);

  const why = (passage) => el("div", { class: "why" },
    el("table", {}, el("tr", {}, ["Leg", "Rank", "Score", "Scaled", "Weight", "Gives"].map((head) => el("th", {}, head))),
      passage.why.legs.map((leg) => el("tr", {},
        el("td", {}, el("span", { class: "dot", style: { background: leg.color } }), leg.label),
        el("td", {}, leg.rank), el("td", {}, leg.score), el("td", {}, leg.scaled), el("td", {}, leg.weight),
        el("td", { class: "grow" }, el("div", { class: "track" }, el("div", { style: { width: `${Math.round(100 * leg.share)}%`, background: leg.color } })))))),
    el("div", { class: "small", style: { marginTop: "8px" } }, passage.why.sentence));

  const passage = (one) => {
    const box = el("div", { class: "passage" },
      one.heading.length ? el("div", { class: "crumb" }, one.heading.join(" › ")) : null,
      marked(one.segments, one.cut));
    const drawer = el("div", {});
    const draw = () => drawer.replaceChildren(...(open.why.has(one.chunk) ? [why(one)] : []));
    draw();
    const toggle = button("Why this rank", () => { open.why.has(one.chunk) ? open.why.delete(one.chunk) : open.why.add(one.chunk); toggle.setAttribute("aria-expanded", open.why.has(one.chunk)); draw(); });
    toggle.setAttribute("aria-expanded", open.why.has(one.chunk));
    box.append(el("div", { class: "row actions" },
      inside({ class: "button" }, one.link, () => setTriggerValue("open", one.place), "Open here"),
      toggle,
      button("Copy link", (event) => copy(address(one), event.target)),
      button("Copy citation", (event) => copy(`${one.citation} ${address(one)}`, event.target))), drawer);
    return box;
  };

  const card = (group) => {
    const [first, ...rest] = group.passages;
    const more = el("div", {});
    const draw = () => more.replaceChildren(...(!rest.length ? [] : open.more.has(group.doc) ? [...rest.map(passage), hide] : [show]));
    const show = button(rest.length === 1 ? "1 more passage here" : `${rest.length} more passages here`, () => { open.more.add(group.doc); draw(); });
    const hide = button("Show the best passage only", () => { open.more.delete(group.doc); draw(); });
    draw();
    return el("article", { class: "card" },
      el("h3", {}, inside({}, first.link, () => setTriggerValue("open", first.place), group.title)),
      el("div", { class: "row meta" }, badge({ text: group.type }), group.badges.map(badge), el("span", {}, group.about)),
      passage(first), more);
  };

  const reported = el("div", {});
  const report = () => {
    const note = el("input", { type: "text", placeholder: "What did you expect to find? (optional)", "aria-label": "What did you expect to find?" });
    const send = () => { setTriggerValue("report", { note: note.value }); reported.replaceChildren(el("span", { class: "muted" }, "Thank you. The owners will see this question.")); };
    note.addEventListener("keydown", (event) => { if (event.key === "Enter") send(); });
    reported.replaceChildren(el("div", { class: "report" }, note, button("Tell the owners", send, { kind: "outline" })));
  };
  reported.append(button("Not what you were looking for?", report));

  const total = data.stages.reduce((sum, stage) => sum + stage.ms, 0) || 1;
  const timing = el("details", {}, el("summary", {}, `How this search ran: ${data.how}`),
    el("div", { class: "stages" }, data.stages.map((stage) => el("div", { title: `${stage.label}: ${stage.ms.toFixed(2)} ms`, style: { width: `${(100 * stage.ms) / total}%`, background: stage.color } }))),
    el("div", { class: "legend" }, data.stages.map((stage) => el("span", {}, el("span", { class: "dot", style: { background: stage.color } }), `${stage.label} ${stage.ms.toFixed(1)} ms${stage.note ? `, ${stage.note}` : ""}`))));

  const filterButton = button("Filters", () => { open.filters = !open.filters; facets.classList.toggle("open", open.filters); }, { kind: "outline" });
  filterButton.classList.add("filters-toggle");

  const main = el("main", {},
    el("div", { class: "bar" }, el("span", { class: "muted" }, data.summary), el("span", { class: "spring" }), filterButton,
      data.facets.some((facet) => facet.options.some((option) => option.on)) ? button("Clear filters", () => setStateValue("filters", { for: data.query })) : null),
    data.warnings.map((text) => el("div", { class: "notice bad", role: "alert" }, el("p", {}, text))),
    data.groups.length && data.notice ? el("div", { class: "notice" }, el("p", {}, data.notice),
      data.nearest.length ? el("p", { class: "small" }, "Words that look like yours: ", data.nearest.map((word, n) => [n ? ", " : "", el("a", { href: "#", onclick: (event) => { event.preventDefault(); setTriggerValue("ask", word); } }, word)])) : null) : null,
    data.groups.length ? null : el("div", { class: "empty" }, el("div", { class: "glyph" }, "∅"), el("h3", {}, "Nothing found"),
      el("p", { class: "muted" }, data.advice),
      data.nearest.length ? el("p", {}, "Did you mean ", data.nearest.map((word, n) => [n ? " or " : "", el("a", { href: "#", onclick: (event) => { event.preventDefault(); setTriggerValue("ask", word); } }, word)]), "?") : null),
    data.groups.map(card),
    el("div", { class: "foot" }, reported, data.groups.length ? timing : null));

  root.replaceChildren(el("div", { class: "layout" }, facets, main));
}
