// What the pages of accounts share: one card with a heading, perhaps a form, and what came of it.
const heading = document.querySelector("h1");
const form = document.getElementById("form");
const result = document.getElementById("result");

/** The end of what the page is for, in place of its form: the heading says it, to a screen reader too. */
export function conclude(title, text, className = "done") {
  if (form) form.hidden = true;
  heading.textContent = title;
  document.title = `${title} · Taffrail`;
  show(text, className);
  heading.tabIndex = -1;
  heading.focus();
}

/** A line below the form, which stays. */
export function show(text, className) {
  const line = document.createElement("p");
  line.className = className;
  line.textContent = text;
  result.replaceChildren(line);
  result.hidden = false;
}

/** A button that copies a text which is better not shown. */
export function offerCopy(label, text) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "second";
  button.textContent = label;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      button.textContent = "The browser does not let this page copy";
    }
  });
  result.append(button);
}
