// "/" or Ctrl+K goes to the search box, wherever one is.
export default function ({ setTriggerValue }) {
  const onkey = (event) => {
    const typing = event
      .composedPath()
      .some(
        (node) =>
          node instanceof HTMLElement &&
          (node.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(node.tagName)),
      );
    const wanted =
      (event.key === "/" && !typing) || (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey));
    if (!wanted) return;
    event.preventDefault();
    const box =
      [...document.querySelectorAll("*")]
        .map((node) => node.shadowRoot?.querySelector('[data-key="search"]'))
        .find(Boolean) || document.querySelector(".st-key-home_q input");
    if (box) {
      box.focus();
      box.select();
    } else setTriggerValue("search", Date.now());
  };
  document.addEventListener("keydown", onkey);
  return () => document.removeEventListener("keydown", onkey);
}
