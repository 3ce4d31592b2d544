// What a page does with a script, each of which works without one, only slower: the search shortcut, selects that
// send their form, copying of numbers, choosing all rows, and finding while one types. No inline handler, no other host, no patient data kept.
"use strict";

document.documentElement.classList.add("with-script");

const isTyping = (target) => target.closest("input, select, textarea, [contenteditable]") !== null;

document.addEventListener("keydown", (event) => {
  const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
  const wanted = plain && !isTyping(event.target) && document.querySelector(`[data-shortcut="${CSS.escape(event.key)}"]`);
  if (wanted) {
    event.preventDefault();
    wanted.focus();
  }
  if (event.key === "Escape") {
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  }
});

document.addEventListener("change", (event) => {
  if (event.target.matches("[data-send-on-change]")) event.target.form.requestSubmit();
  if (event.target.matches("[data-choose-all]")) {
    const boxes = document.querySelectorAll(`input[type="checkbox"][name="${CSS.escape(event.target.dataset.chooseAll)}"]`);
    for (const box of boxes) box.checked = event.target.checked;
  }
});

for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = "copied";
  });
}

// A field with data-find fetches the fragment at that address while one types, into the element that data-found names.
const TYPING_PAUSE_MS = 200;
for (const field of document.querySelectorAll("[data-find]")) {
  let timer = 0;
  let running = null;
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      running?.abort();
      running = new AbortController();
      const { signal } = running;
      try {
        const answer = await fetch(`${field.dataset.find}?q=${encodeURIComponent(field.value)}`, { signal });
        if (answer.ok && !answer.redirected) document.getElementById(field.dataset.found).innerHTML = await answer.text();
      } catch (fault) {
        if (fault.name !== "AbortError") throw fault;
      }
    }, TYPING_PAUSE_MS);
  });
}
