// What a page does with a script, each of which works without one, only slower: the search shortcut, selects that
// send their form, checking a correction, looking again at what is not finished, going back to a kept form, keeping the chosen tab in sight, copying of
// numbers, choosing all rows or those of a group, what is
// chosen and how much it is, asking for the field a button needs, and finding while one types. No inline handler, no other host, no patient data kept.
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

// The bar of a worklist comes to the window's edge once a row is ticked, and says how many are and how much they charge.
const amount = (cents) => (cents / 100).toLocaleString("en-US", {minimumFractionDigits: 2, maximumFractionDigits: 2});
for (const bar of document.querySelectorAll("[data-selection]")) {
  const words = bar.querySelector("[data-selected]");
  const every = bar.querySelector('input[name="every"]');
  const boxes = [...bar.form.querySelectorAll(`input[name="${CSS.escape(bar.dataset.selection)}"]`)];
  const groups = [...bar.form.querySelectorAll("[data-choose-group]")];
  const isRefused = bar.querySelector(".fault") !== null;
  const ofGroup = (group) => boxes.filter((box) => group.closest("tbody").contains(box));
  let last = null;
  const show = () => {
    const chosen = boxes.filter((box) => box.checked);
    const cents = chosen.reduce((sum, box) => sum + Number(box.dataset.cents), 0);
    const [count, money] = every?.checked ? [Number(words.dataset.everyCount), Number(words.dataset.everyCents)] : [chosen.length, cents];
    words.textContent = `${count.toLocaleString("en-US")} selected, $${amount(money)}`;
    bar.classList.toggle("idle", count === 0 && !isRefused);
    for (const group of groups) {
      const own = ofGroup(group);
      const checked = own.filter((box) => box.checked).length;
      group.checked = checked > 0 && checked === own.length;
      group.indeterminate = checked > 0 && checked < own.length;
    }
  };
  bar.form.addEventListener("click", (event) => {
    const at = boxes.indexOf(event.target);
    if (at < 0) return;
    if (event.shiftKey && last !== null) {
      for (const box of boxes.slice(Math.min(at, last), Math.max(at, last) + 1)) box.checked = event.target.checked;
    }
    last = at;
    show();
  });
  bar.form.addEventListener("change", (event) => {
    if (groups.includes(event.target)) for (const box of ofGroup(event.target)) box.checked = event.target.checked;
    show();
  });
  show();
}

// A button with data-needs is not sent without the field it names; Enter in that field presses it.
for (const button of document.querySelectorAll("[data-needs]")) {
  const field = document.getElementById(button.dataset.needs);
  button.form.addEventListener("click", (event) => {
    const pressed = event.target.closest("button");
    if (!pressed) return;
    field.required = pressed === button;
    // What another button needs does not hold this one back.
    if (pressed !== button && !field.validity.valid) field.value = "";
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    button.click();
  });
}

// Enter in a search inside a form presses the button of that search.
for (const field of document.querySelectorAll("[data-presses]")) {
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    document.getElementById(field.dataset.presses).click();
  });
}

// An answer that comes while the pointer is pressed waits: what moved away under it would not be clicked. Who types
// has let go of it, even if that was outside the window.
let isPressed = false;
for (const name of ["pointerdown", "pointerup", "pointercancel", "keydown"]) {
  document.addEventListener(name, () => { isPressed = name === "pointerdown"; }, true);
}
const pointerIsUp = async () => {
  while (isPressed) await new Promise((goOn) => setTimeout(goOn, 20));
};

// What was chosen among the rows found stays chosen when others come for it, if it is still among them.
const showFound = (place, fragment) => {
  const chosen = place.querySelector("input:checked");
  const isFocused = place.contains(document.activeElement);
  place.innerHTML = fragment;
  const again = chosen && [...place.querySelectorAll("input")].find((one) => one.value === chosen.value);
  if (!again) return;
  again.checked = true;
  if (isFocused) again.focus();
};

// A correction is checked when a field is left: findings come under their fields, the button says what is left to fix.
const showCheck = (form, checked) => {
  for (const finding of form.querySelectorAll("[data-finding]")) {
    const found = checked.getElementById(finding.id);
    finding.textContent = found ? found.textContent : "";
    finding.hidden = !found || found.hidden;
    finding.closest(".correction")?.classList.toggle("at-fault", !finding.hidden);
    const field = document.getElementById(finding.id.replace(/-finding$/, ""));
    for (const [name, value] of [["aria-invalid", "true"], ["aria-describedby", finding.id]]) {
      if (finding.hidden) field.removeAttribute(name);
      else field.setAttribute(name, value);
    }
  }
  for (const name of ["[data-checked-button]", "[data-checked-notes]", "[data-checked-left]"]) {
    const found = checked.querySelector(name);
    const shown = document.querySelector(name);
    if (found && shown) shown.replaceChildren(...found.childNodes);
  }
};

// One check at a time, of the fields as they are then: what changes while one runs is checked after it, so neither an
// answer nor a draft is overtaken by an older one. A check that the service could not answer is made again, ever later.
const CHECK_AGAIN_MS = 1000;
const CHECK_AGAIN_MS_MAX = 30000;
const CHECK_ANSWER_MS_MAX = 30000;
const askForCheck = async (form) => {
  const fields = new URLSearchParams(new FormData(form));
  fields.set("do", "check");
  try {
    const answer = await fetch(form.action, {method: "POST", body: fields, signal: AbortSignal.timeout(CHECK_ANSWER_MS_MAX)});
    const page = await answer.text();
    if (answer.status === 429 || answer.status >= 500) return null;
    const checked = new DOMParser().parseFromString(page, "text/html");
    // Any other page, such as that of signing in, is shown when the form is sent.
    return answer.ok && checked.querySelector("[data-checked-button]") ? checked : undefined;
  } catch {
    return null;
  }
};

const isChanged = (field) => {
  if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
  if (!field.options) return field.value !== field.defaultValue;
  return field.value !== ([...field.options].find((option) => option.defaultSelected) ?? field.options[0])?.value;
};
for (const form of document.querySelectorAll("form[data-check-on-change]")) {
  let isWanted = false;
  let isRunning = false;
  const check = async () => {
    isWanted = true;
    if (isRunning) return;
    isRunning = true;
    let pause = CHECK_AGAIN_MS;
    while (isWanted) {
      isWanted = false;
      const checked = await askForCheck(form);
      await pointerIsUp();
      if (checked === null) {
        isWanted = true;
        await new Promise((goOn) => setTimeout(goOn, pause));
        pause = Math.min(2 * pause, CHECK_AGAIN_MS_MAX);
      } else if (checked && !isWanted) {
        showCheck(form, checked);
      }
    }
    isRunning = false;
  };
  form.addEventListener("change", check);
  // What was changed before this script ran.
  if ([...form.querySelectorAll("input, select, textarea")].some(isChanged)) check();
}

// A form that was kept while its session ended: its page shows it as it was, and does nothing else.
for (const form of document.querySelectorAll("form[data-send-now]")) form.requestSubmit();

// A page about what is not finished yet, such as a file that is being read, is loaded again until it is.
const LOOK_AGAIN_MS = 2000;
if (document.querySelector("[data-look-again]")) setTimeout(() => location.reload(), LOOK_AGAIN_MS);

// Menu and tabs scroll sideways on a phone: where one is must be in sight.
for (const entry of document.querySelectorAll(".side [aria-current], .tabs [aria-current]")) {
  const strip = entry.parentElement;
  strip.scrollLeft = entry.offsetLeft - strip.offsetLeft - (strip.clientWidth - entry.offsetWidth) / 2;
}

for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = "copied";
  });
}

for (const button of document.querySelectorAll("[data-copy-address]")) {
  button.parentElement.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(new URL(button.dataset.copyAddress, location.href).href);
    button.textContent = "Link copied";
  });
}

// A field with data-find fetches the fragment at that address while one types, into the element that data-found names.
const TYPING_PAUSE_MS = 200;
for (const field of document.querySelectorAll("[data-find]")) {
  const found = document.getElementById(field.dataset.found);
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
        const fragment = await answer.text();
        await pointerIsUp();
        if (answer.ok && !answer.redirected && !signal.aborted) showFound(found, fragment);
      } catch (fault) {
        if (fault.name !== "AbortError") throw fault;
      }
    }, TYPING_PAUSE_MS);
  });
}

// A file of claims that was chosen or dropped goes with the form, byte for byte.
for (const form of document.querySelectorAll("form[data-file-form]")) {
  const place = form.querySelector("[data-drop]");
  const chooser = place.querySelector("input");
  const fault = form.querySelector("#file-fault");
  place.hidden = false;
  const take = (file) => {
    const isTooLarge = file && file.size > Number(form.dataset.bytesMax);
    form.elements.content.value = "";
    form.elements.name.value = file ? file.name : "";
    fault.hidden = !isTooLarge;
    fault.textContent = isTooLarge ? "The file is too large for this page. Send it by SFTP, or with: clearlane file send FILE" : "";
    if (!file || isTooLarge) return;
    const reader = new FileReader();
    reader.addEventListener("load", () => {
      form.elements.content.value = reader.result.slice(reader.result.indexOf(",") + 1);
    });
    reader.readAsDataURL(file);
  };
  chooser.addEventListener("change", () => take(chooser.files[0]));
  for (const name of ["dragover", "drop"]) document.addEventListener(name, (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    if (!event.dataTransfer?.files.length) return;
    chooser.files = event.dataTransfer.files;
    take(chooser.files[0]);
  });
}
