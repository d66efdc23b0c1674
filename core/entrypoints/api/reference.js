// Sends what a form of the page describes, and shows the answer as text.

function address(form) {
  let path = form.dataset.path;
  const query = new URLSearchParams();
  for (const input of form.querySelectorAll("input[data-in]")) {
    if (input.dataset.in === "path") {
      path = path.replace(`{${input.name}}`, encodeURIComponent(input.value));
    } else if (input.dataset.in === "query" && input.value) {
      query.append(input.name, input.value);
    }
  }
  const asked = query.toString();
  return location.pathname.replace(/\/docs$/, "") + path + (asked ? `?${asked}` : "");
}

function headers(form) {
  const sent = new Headers({ Accept: "application/json" });
  const token = document.getElementById("token").value.trim();
  if (token) sent.set("Authorization", `Bearer ${token}`);
  if (form.elements.body) sent.set("Content-Type", "application/json");
  for (const input of form.querySelectorAll('input[data-in="header"]')) {
    if (input.value) sent.set(input.name, input.value);
  }
  return sent;
}

async function send(event) {
  event.preventDefault();
  const form = event.target;
  const shown = document.createElement("pre");
  form.nextElementSibling.replaceChildren(shown);
  try {
    const answer = await fetch(address(form), {
      method: form.dataset.method,
      headers: headers(form),
      body: form.elements.body ? form.elements.body.value : undefined,
    });
    const text = await answer.text();
    const json = (answer.headers.get("content-type") || "").includes("json");
    shown.textContent = `${answer.status}\n${json && text ? JSON.stringify(JSON.parse(text), null, 2) : text}`;
  } catch (error) {
    shown.textContent = String(error);
  }
}

document.getElementById("who").addEventListener("submit", (event) => event.preventDefault());
for (const form of document.querySelectorAll("form[data-path]")) form.addEventListener("submit", send);
