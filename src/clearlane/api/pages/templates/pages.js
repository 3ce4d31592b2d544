// Copy buttons at code, and results while one types in the search box. Every page can be read without this.
for (const block of document.querySelectorAll(".prose pre")) {
  const around = document.createElement("div");
  around.className = "code";
  block.replaceWith(around);
  around.append(block);
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(block.textContent.replace(/\n$/, ""));
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  around.append(button);
}

const input = document.getElementById("search");
const found = document.getElementById("found");
let asked = 0;

async function look() {
  const words = input.value.trim();
  const own = ++asked;
  if (!words) { found.hidden = true; return; }
  const answer = await fetch(`/docs/search.json?q=${encodeURIComponent(words)}`);
  if (!answer.ok || own !== asked) return;
  const rows = (await answer.json()).map((each) => {
    const row = document.createElement("li");
    const link = document.createElement("a");
    const note = document.createElement("small");
    link.href = each.address;
    link.textContent = each.title;
    note.textContent = each.note;
    link.append(note);
    row.append(link);
    return row;
  });
  if (!rows.length) {
    const none = document.createElement("p");
    none.textContent = "No title, heading or call has these words.";
    rows.push(none);
  }
  found.replaceChildren(...rows);
  found.hidden = false;
}

input.addEventListener("input", look);
document.addEventListener("click", (event) => { if (!event.target.closest(".search")) found.hidden = true; });
document.addEventListener("keydown", (event) => {
  const typing = /^(input|textarea|select)$/i.test(document.activeElement.tagName);
  if (event.key === "/" && !typing) { event.preventDefault(); input.focus(); }
  if (event.key === "Escape") { found.hidden = true; }
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  if (found.hidden || !event.target.closest(".search")) return;
  const links = [...found.querySelectorAll("a")];
  const at = links.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1);
  event.preventDefault();
  (at < 0 ? input : links[Math.min(at, links.length - 1)])?.focus();
});
