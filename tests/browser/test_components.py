"""Components alone in a real browser: what is typed stays, and so does the focus."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.support import browser

pytestmark = pytest.mark.browser


def test_a_comment_stays_in_its_box_until_it_was_taken(chromium: Any) -> None:
    data = {"items": [], "may": {"comment": True}, "closed": "", "heard": ["", False]}
    with browser.component(chromium, "discussion", "nodes", "difftext", "talk") as page:
        page.evaluate("show", data)
        box, comment = page.get_by_label("Comment on the whole change"), page.get_by_role("button", name="Comment")
        comment.click()
        assert box.get_attribute("aria-invalid") == "true", "there is nothing to send yet"
        box.fill("Say from when the years count.")
        assert box.get_attribute("aria-invalid") is None
        comment.click()
        comment.click()
        (sent,) = page.evaluate("sent")
        assert sent[1]["body"] == "Say from when the years count."
        page.evaluate("show", {**data, "heard": [sent[1]["n"], False]})
        assert box.input_value() == "Say from when the years count.", "it was refused"
        comment.click()
        page.evaluate("show", {**data, "heard": [page.evaluate("sent")[1][1]["n"], True]})
        assert box.input_value() == ""


@pytest.mark.parametrize("view", ["Side by side", "Inline"])
def test_a_removed_line_is_commented_on_where_it_was(chromium: Any, view: str) -> None:
    def row(kind: str, left: int, right: int, text: str) -> dict[str, Any]:
        marks = [[False, text]]
        before, after = marks if left else None, marks if right else None
        return {"kind": kind, "left": left, "right": right, "before": before, "after": after}

    rows = [row("equal", 1, 1, "Keep."), row("removed", 2, 0, "Shred."), row("added", 0, 2, "Burn.")]
    thread = {"id": 7, "line": 2, "last": 2, "removed": True, "quote": "Shred.", "where": "", "remarks": []}
    file = {"path": "a.md", "was": "", "kind": "edited", "title": "A", "word": "Edited", "tone": "note", "sign": "~"}
    file |= {"added": 1, "removed": 1, "problem": "", "checks": [], "badges": [], "differs": [], "fields": []}
    file |= {
        "rendered": [],
        "rows": rows,
        "viewed": False,
        "threads": [{**thread, "outdated": False, "resolved": False}],
    }
    data = {"documents": [file], "head": "c1", "heard": ["", False], "people": [], "at": "", "whole": True}
    with browser.component(chromium, "review", "nodes", "checks", "difftext", "talk", "tree") as page:
        page.evaluate("show", {**data, "may": {"comment": True, "apply": False, "edit": False}})
        page.get_by_role("button", name=view).click()
        assert (
            "Shred."
            in page.locator("tr", has=page.locator("#c7")).locator("xpath=preceding-sibling::tr[1]").inner_text()
        )
        page.get_by_role("button", name="Comment on removed line 2").click()
        assert page.get_by_role("button", name="Suggest a wording").count() == 0, "there is no line to put it on"
        page.get_by_label("Comment on removed line 2").last.fill("Why?")
        page.locator(".composer").get_by_role("button", name="Comment", exact=True).click()
        (sent,) = page.evaluate("sent")
        wanted = {"do": "comment", "path": "a.md", "line": 2, "last": 2, "removed": True, "body": "Why?", "head": "c1"}
        assert {name: sent[1][name] for name in wanted} == wanted
        page.evaluate("show", {**data, "whole": False, "may": {"comment": True}})
        assert page.get_by_role("button", name="Comment on removed line 2").count() == 0, "another text is on the left"


def test_the_other_parts_of_a_long_document_are_one_click_away(chromium: Any) -> None:
    nodes = [["h2", {"id": f"part-{n}", "start": n, "end": n + 1}, [f"Part {n}"]] for n in (2, 3)]
    outline = [{"level": 2, "title": f"Part {n}", "slug": f"part-{n}"} for n in range(9)]
    data = {"doc": "D-1", "path": "d.md", "version": 1, "nodes": nodes, "outline": outline, "mark": None, "anchor": ""}
    with browser.component(chromium, "reader", "nodes") as page:
        page.evaluate("show", {**data, "first": 2, "step": 2, "hidden": 5})
        page.get_by_role("button", name="Show 5 more blocks").click()
        page.get_by_role("button", name="Show 2 earlier blocks").click()
        page.get_by_role("link", name="Part 3").click()
        page.get_by_role("link", name="Part 8").click()
        assert page.evaluate("sent") == [
            ["more", {"from": 4}],
            ["more", {"from": 0}],
        ]
        assert page.url.endswith("/documents?doc=D-1&anchor=part-8")


STEPS = """(steps) => {
    for (const [does, href] of steps)
        does === "push" ? history.pushState({}, "", href) : window.dispatchEvent(new Event(does));
}"""


def test_a_page_that_opens_another_is_one_step_back(chromium: Any) -> None:
    switched = [["push", "/playground?doc=D-1&do=edit"], ["push", "/documents?doc=D-1&do=edit"]]
    linked = [["push", "/search?q=leave"], ["pointerdown", ""], ["push", "/playground?q=leave"]]
    with browser.component(chromium, "shortcuts") as page:
        page.evaluate("() => void show({})")
        page.evaluate(STEPS, [["push", "/playground"], ["pointerdown", ""], *switched])
        page.evaluate("history.back()")
        page.wait_for_url("**/playground")
        page.evaluate(STEPS, linked)
        page.evaluate("history.back()")
        page.wait_for_url("**/search?q=leave")  # a link with the same parameters leaves its page behind


def test_a_browser_sends_the_persona_of_a_demo_once_and_again_when_it_changes(chromium: Any) -> None:
    with browser.component(chromium, "shortcuts") as page:
        sent: list[str] = []
        page.on(
            "request", lambda request: sent.append(f"{request.method} {urlsplit(request.url).path} {request.post_data}")
        )
        for persona in ("admin", "zoe", "zoe", "ann"):
            page.evaluate("(persona) => show({ persona, remembered: 'admin' })", persona)
        page.evaluate("() => show({})")
        page.wait_for_timeout(100)
        assert sent == ["POST /sign-in/persona persona=zoe", "POST /sign-in/persona persona=ann"]


FOCUS = (
    "() => { const at = document.querySelector('#host').shadowRoot.activeElement; return at && "
    "(at.getAttribute('aria-label') || at.textContent); }"
)
STYLED = (
    "(css) => { const style = document.createElement('style'); style.textContent = css; "
    "document.querySelector('#host').shadowRoot.append(style); }"
)


COLUMNS = ("title", "typeName", "owner", "updated", "review", "sub", "type", "status", "fresh")
ROW = {**dict.fromkeys(COLUMNS, ""), "updatedText": "", "reviewText": "", "search": "", "badges": [], "version": 1}


@pytest.mark.parametrize("width", [1280, 390])
def test_a_title_of_one_long_word_pushes_no_column_out_of_sight(chromium: Any, width: int) -> None:
    row = {**ROW, "doc": "d", "title": "Averyveryverylongword" * 12, "sub": "a/" * 90, "folder": "it"}
    styles = [(browser.ROOT / "pages/ui/components" / name).read_text() for name in ("base.css", "library.css")]
    with browser.component(chromium, "library", "rows") as page:
        page.set_viewport_size({"width": width, "height": 800})
        page.evaluate("show", {"rows": [row], "filters": []})
        page.evaluate(STYLED, "\n".join(styles))
        box = page.locator("table").bounding_box()
    assert box["x"] + box["width"] <= width


def test_filtering_and_sorting_the_library_keeps_the_focus_and_shows_the_folder(chromium: Any) -> None:
    rows = [{**ROW, "doc": f"d{n}", "title": f"D{n}", "folder": "it" if n else "hr"} for n in range(3)]
    with browser.component(chromium, "library", "rows") as page:
        page.evaluate("show", {"rows": rows, "filters": []})
        page.get_by_role("button", name="it2").press("Enter")
        assert page.evaluate(FOCUS) == "it2"
        assert page.locator("[aria-current=true]").inner_text() == "it2"
        page.get_by_role("button", name="Owner").press("Enter")
        assert page.evaluate(FOCUS) == "Owner ↑"
        page.evaluate("show", {"rows": rows[1:], "filters": []})
        assert page.evaluate(FOCUS) == "Owner ↑", "new data came from the server"


def test_a_thousand_documents_are_a_tree_of_folders_with_counts(chromium: Any) -> None:
    folders = [f"{top}/{below}" for top in ("finance", "it") for below in ("a", "b", "c", "d")]
    rows = [{**ROW, "doc": f"d{n}", "title": f"D{n}", "folder": folders[n % 8]} for n in range(1200)]
    with browser.component(chromium, "library", "rows") as page:
        page.evaluate("show", {"rows": rows, "filters": [], "narrowed": {}})

        def tree():
            return [line.replace("\n", " ") for line in page.locator(".tree button").all_inner_texts()]

        assert [line.split() for line in tree()] == [["All", "documents1,200"], ["▸finance600"], ["▸it600"]]
        page.get_by_role("button", name="finance").click()
        assert [line.split() for line in tree()][1:4] == [["▾finance600"], ["a150"], ["b150"]]
        assert page.locator("tr.item").count() == 60, "more on demand"
        page.evaluate("show", {"rows": rows, "filters": [], "narrowed": {"folder": "it/b"}})
        assert page.locator("[aria-current=true]").inner_text().endswith("b150"), "as the address says"


KIND = {"name": "kind", "label": "Kind", "labels": {"due": "Due", "imported": "Imported"}, "counted": True}
FOLDER = {"name": "folder", "label": "Any folder", "labels": {}}


def test_filtering_a_list_keeps_the_focus_and_counts_a_document_once(chromium: Any) -> None:
    due = {"key": "a", "doc": "d", "title": "Leave", "kind": "due", "folder": "it", "search": "leave ann"}
    many = {"href": "/documents", "title": "Many", "count": 42, "kind": "due", "folder": "hr", "search": "many"}
    rows = [due, {**due, "kind": "imported"}, many, {**many, "kind": "imported"}]
    with browser.component(chromium, "listing", "rows") as page:

        def titles():
            return page.locator("li").all_inner_texts()

        page.evaluate("show", {"items": rows, "filters": [KIND, FOLDER], "words": "Filter", "empty": ""})
        assert page.locator("option").all_inner_texts() == ["Any folder", "hr (42)", "it (1)"]
        page.get_by_role("button", name="Imported 43").press("Enter")
        assert page.evaluate(FOCUS) == "Imported 43"
        assert titles() == ["Leave", "Many"]
        page.get_by_label("Any folder").select_option("it")
        assert titles() == ["Leave"]
        page.get_by_label("Filter", exact=True).press_sequentially("ann many")
        assert page.get_by_text("Nothing fits these filters.").count() == 1
        page.evaluate("show", {"items": [], "filters": [KIND], "words": "Filter", "empty": "All is fresh."})
        assert page.locator("#root").inner_text() == "All is fresh.", "no filters for nothing"


def test_the_button_of_a_row_says_what_to_do_with_which(chromium: Any) -> None:
    row = {"key": "it/vpn.md", "doc": "VPN", "title": "VPN", "action": {"do": "confirm", "label": "Still right"}}
    with browser.component(chromium, "listing", "rows") as page:
        page.evaluate("show", {"items": [row], "filters": [], "empty": ""})
        page.get_by_role("button", name="Still right").click()
        assert page.evaluate("sent") == [["act", {"do": "confirm", "key": "it/vpn.md"}]]


def test_a_facet_of_the_search_keeps_the_focus_when_its_answer_arrives(chromium: Any) -> None:
    options = [{"value": name, "label": name, "count": 1, "on": False} for name in ("it", "hr")]
    found = {"facets": [{"key": "folders", "title": "Folder", "options": options}], "groups": [], "nearest": []}
    found |= {"stages": [], "warnings": [], "summary": "", "advice": "", "notice": "", "query": "q", "how": ""}
    data = {"asked": {"q": "q", "filters": {}}, "found": found, "direct": None, "serial": "1", "placeholder": ""}
    with browser.component(chromium, "search", "snippet", "answer") as page:
        page.route("**/api/v1/page/search?*", lambda route: route.fulfill(json=found))
        page.evaluate("show", data)
        with page.expect_request("**/api/v1/page/search?*") as asked:
            page.locator("[data-key='folders=hr']").press("Space")
        assert asked.value.url.endswith("?q=q&folders=hr")
        page.locator(".line.busy").wait_for(state="detached")
        assert page.locator("[data-key='folders=hr']").evaluate("(box) => box.matches(':focus')")


def test_the_menu_leads_from_results_back_to_an_empty_search(chromium: Any) -> None:
    asked = {"q": "", "filters": {}}
    data = {"asked": asked, "found": None, "direct": None, "serial": "1", "placeholder": ""}
    with browser.component(chromium, "search", "snippet", "answer") as page:
        page.evaluate("show", data)
        page.locator("[data-key=search]").fill("labels")
        page.locator("[data-key=search]").press("Enter")
        assert page.url.endswith("/?q=labels")
        page.evaluate("show", data)
        assert page.locator("[data-key=search]").input_value() == "labels", "the address still names it"
        page.locator("[data-key=search]").blur()
        page.evaluate("() => history.replaceState(null, '', '/')")
        page.evaluate("show", data)
        assert page.locator("[data-key=search]").input_value() == ""


def test_the_tab_key_goes_from_the_search_box_to_the_first_result_and_to_the_filters_last(chromium: Any) -> None:
    option = {"value": "it", "label": "it", "count": 1, "on": False}
    found = {"facets": [{"key": "folders", "title": "Folder", "options": [option]}], "nearest": [], "stages": []}
    found |= {"fits": True, "warnings": [], "summary": "", "advice": "", "notice": "", "query": "q", "how": ""}
    passage = {
        "heading": [],
        "segments": [["words", False, False]],
        "cut": [False, False],
        "chunk": "c",
        "citation": "",
    }
    passage |= {"place": {"doc": "d"}, "why": {"legs": [], "sentence": ""}}
    found["groups"] = [{"doc": "d", "title": "First", "type": "SOP", "badges": [], "about": "", "passages": [passage]}]
    data = {"asked": {"q": "q", "filters": {}}, "found": found, "direct": None, "serial": "1", "placeholder": ""}
    with browser.component(chromium, "search", "snippet", "answer") as page:
        page.evaluate("show", data)
        page.evaluate(STYLED, (browser.ROOT / "pages" / "ui" / "components" / "search.css").read_text())
        page.locator("[data-key=search]").focus()
        page.keyboard.press("Tab")
        assert page.evaluate(FOCUS) == "First"
        box = page.locator("[data-key='folders=it']")
        left, right = page.locator("article").bounding_box(), box.bounding_box()
        assert right["x"] < left["x"], "the filters stand on the left as before"
        for _ in range(16):
            page.keyboard.press("Tab")
            if box.evaluate("(box) => box.matches(':focus')"):
                break
        assert box.evaluate("(box) => box.matches(':focus')"), "the filters are reached as well"


def test_a_pool_is_judged_blind_with_the_keyboard_alone(chromium: Any) -> None:
    hit = {"heading": [], "segments": [["words", False, False]], "cut": [False, False]}
    data = {"run": 1, "query": "q", "blind": True, "summary": "", "legend": [], "columns": [], "most": 4, "link": "x"}
    data |= {
        "pool": [{**hit, "chunk": f"c{n}", "title": f"T{n}"} for n in range(3)],
        "grades": {},
        "setup": {"columns": []},
    }
    with browser.component(chromium, "playground", "snippet") as page:
        page.evaluate("show", data)
        page.get_by_role("article", name="T0").focus()
        for n, key in enumerate("320"):
            page.keyboard.press(key)
            said = [value for name, value in page.evaluate("sent") if name == "judge"]
            assert [(one["chunk"], one["grade"]) for one in said][n:] == [(f"c{n}", int(key))]
            data = {**data, "grades": {one["chunk"]: one["grade"] for one in said}}
            page.evaluate("show", data)
        page.get_by_role("article", name="T1").get_by_role("button", name="Grade 1").press("Enter")
        page.evaluate("show", {**data, "grades": {**data["grades"], "c1": 1}})
        assert page.evaluate(FOCUS) == "Grade 1: related"


def test_a_table_in_a_narrow_hit_scrolls_and_keeps_its_words_whole(chromium: Any) -> None:
    rows = "Record\tKeep for\tTrigger\t\nDocumentation\tdestruction\tconfidentiality"
    hit = {"heading": [], "segments": [[rows, False, False]], "cut": [False, False], "chunk": "c", "title": "T"}
    data = {"run": 1, "query": "q", "blind": True, "summary": "", "legend": [], "columns": [], "most": 4, "link": "x"}
    styles = [(browser.ROOT / "pages/ui/components" / name).read_text() for name in ("base.css", "snippet.css")]
    with browser.component(chromium, "playground", "snippet") as page:
        page.evaluate("show", {**data, "pool": [hit], "grades": {}, "setup": {"columns": []}})
        page.evaluate(STYLED, "\n".join([*styles, ".text { width: 200px; }"]))
        heights = page.locator("td").evaluate_all("(cells) => cells.map((cell) => cell.offsetHeight)")
        assert max(heights) < 40, "each is one line"
        assert page.locator(".table").evaluate("(box) => box.scrollWidth > box.clientWidth && box.offsetWidth <= 200")


def test_the_menu_is_a_list_to_screen_readers_also_while_something_is_drawn_in_every_frame(chromium: Any) -> None:
    draws = """() => {
        const draw = () => { document.body.append(document.createElement("i")); requestAnimationFrame(draw); };
        draw();
    }"""
    menu = '<ul data-testid="stSidebarNavItems"><div><li>Home</li></div></ul>'
    with browser.component(chromium, "shortcuts") as page:
        page.evaluate("show", {})
        page.evaluate(draws)
        page.evaluate("(html) => document.body.insertAdjacentHTML('beforeend', html)", menu)
        page.locator("div[role=list]").wait_for(timeout=10_000)


def test_names_are_offered_after_an_at_and_taken_with_a_key(chromium: Any) -> None:
    people = [{"name": name, "role": "reviewer", "spelled": name} for name in ("Petra Voss", "Theo Nakamura")]
    data = {"items": [], "may": {"comment": True}, "closed": "", "heard": ["", False], "people": people}
    with browser.component(chromium, "discussion", "nodes", "difftext", "talk") as page:
        page.evaluate("show", data)
        box, offered = page.get_by_label("Comment on the whole change"), page.get_by_role("option")
        box.press_sequentially("Mail me@p or ask @")
        assert offered.count() == 2
        box.press_sequentially("vo")
        assert offered.all_inner_texts() == ["Petra Voss reviewer"], "any part of a name will do"
        box.press("Enter")
        assert box.input_value() == "Mail me@p or ask @Petra Voss "
        assert offered.count() == 0
        box.press_sequentially("and @")
        box.press("ArrowDown")
        box.press("Tab")
        box.press_sequentially("or @x")
        box.press("Escape")
        assert box.input_value() == "Mail me@p or ask @Petra Voss and @Theo Nakamura or @x"
        box.press("Control+Enter")
        assert page.evaluate("sent")[0][1]["body"].endswith("@Theo Nakamura or @x")


def test_a_message_leads_to_its_thing_and_tells_python_which(chromium: Any) -> None:
    line = {"id": 7, "title": "Ann asks you", "badges": [{"text": "Review"}], "right": "now", "unread": True}
    with browser.component(chromium, "listing", "rows") as page:
        page.evaluate("show", {"items": [{**line, "href": "/reviews?change=4"}], "filters": [], "empty": ""})
        link = page.get_by_role("link", name="Ann asks you")
        assert link.get_attribute("href") == "/reviews?change=4"
        link.click()
        assert page.evaluate("sent") == [["open", 7]]
        page.evaluate("show", {"items": [], "filters": [], "empty": "Nothing new."})
        assert page.get_by_text("Nothing new.").count() == 1


def test_a_hit_takes_feedback_and_a_question_is_watched(chromium: Any) -> None:
    place = {"doc": "D-1", "start": 3, "end": 9, "version": 2}
    passage = {
        "chunk": "c",
        "heading": [],
        "segments": [["Text.", False, False]],
        "cut": [False, False],
        "place": place,
    }
    passage |= {"citation": "", "why": {"legs": [], "sentence": ""}}
    group = {"doc": "D-1", "title": "D", "type": "SOP", "badges": [], "about": "", "passages": [passage]}
    lists = {name: [] for name in ("warnings", "nearest", "facets", "stages")}
    found = {"query": "when", "summary": "", "how": "", "notice": "", "advice": "", "groups": [group], **lists}
    data = {"asked": {"q": "when", "filters": {}}, "found": found, "direct": None, "serial": 1, "placeholder": ""}
    with browser.component(chromium, "search", "snippet", "answer") as page:
        page.evaluate("show", data)
        assert page.locator(".actions > *").count() <= 3, "the rest is in a menu"
        page.get_by_text("More", exact=True).click()
        page.get_by_role("button", name="This is wrong").click()
        page.get_by_role("button", name="Tell the owner", exact=True).click()
        assert page.get_by_label("What is wrong?").get_attribute("aria-invalid") == "true", "nothing to tell yet"
        page.get_by_label("What is wrong?").fill("The date.")
        page.get_by_role("button", name="Tell the owner", exact=True).click()
        assert page.get_by_text("Thank you. The owner is told.").count() == 1
        page.get_by_role("button", name="Watch this question").click()
        assert page.evaluate("sent") == [
            ["feedback", {"kind": "wrong", "note": "The date.", **place}],
            ["watch", {"query": "when"}],
        ]


def test_a_finished_question_and_a_used_hit_are_told_once_and_only_with_consent(chromium: Any) -> None:
    asked = {"q": "labels", "filters": {}, "history": False}
    passage = {
        "chunk": "c",
        "heading": [],
        "segments": [["Print them.", False, False]],
        "whole": None,
        "cut": [False, False],
        "place": {"doc": "d"},
        "citation": "",
        "why": {"legs": [], "sentence": ""},
    }
    group = {"doc": "d", "title": "Labels", "type": "SOP", "badges": [], "about": "", "passages": [passage]}
    found = {
        **dict.fromkeys(("query", "summary", "how", "notice", "advice"), ""),
        "fits": True,
        "facets": [],
        "stages": [],
        "warnings": [],
        "nearest": [],
        "groups": [group],
    }
    data = {"asked": asked, "found": found, "direct": None, "serial": "1", "placeholder": "Ask"}
    told: list[Any] = []

    def keep(route: Any) -> None:
        told.append(route.request.post_data_json)
        route.fulfill(status=204)

    with browser.component(chromium, "search", "snippet", "answer") as page:
        page.route("**/api/v1/page/search?*", lambda route: route.fulfill(json=found))
        page.route("**/api/v1/page/asked", keep)
        page.evaluate("show", {**data, "kept": {"days": 90, "mine": True}})
        with page.expect_response("**/api/v1/page/asked"):
            page.locator("[data-key=search]").press("Enter")
        page.locator("[data-key=search]").press("Enter")
        page.locator(".line.busy").wait_for(state="detached")
        with page.expect_response("**/api/v1/page/asked"):
            page.get_by_role("link", name="Open here").click()
        assert "top" in page.evaluate("sessionStorage.getItem('concord place')"), "Back leads to the same place"
        assert told == [{"q": "labels", "opened": ""}, {"q": "labels", "opened": "d"}], "and which document it led to"
        page.get_by_role("button", name="Leave mine out").click()
        page.evaluate("show", {**data, "kept": {"days": 90, "mine": False}})
        assert page.get_by_text("Your questions are not kept.").is_visible()
        page.get_by_role("link", name="Open here").click()
        assert page.evaluate("sent") == [["consent", {"keep": False}]]
        assert len(told) == 2
