// Script of the pages that a browser gets for the API's link addresses: sends the token on a click, and shows the
// result.
const kind = document.body.dataset.kind;
const heading = document.querySelector("h1");
const form = document.getElementById("form");
const result = document.getElementById("result");
const token = takeToken();

const ACTIONS = {
  "verify-email": {
    path: "/auth/verify-email",
    done: () => conclude("Your address is confirmed", "You can close this page."),
  },
  "magic-link": { path: "/auth/magic-link/verify", done: signedIn },
};

/** Errors after which the link cannot be used again. */
const FINAL_ERRORS = {
  INVALID_TOKEN: ["This link is not valid", "It was already used, or replaced by a newer one. Request a new one."],
  TOKEN_EXPIRED: ["This link has expired", "Request a new one."],
};

if (!token) conclude("This link is incomplete", "Open it from the mail again, or copy the whole link.", "error");
form.addEventListener("submit", (event) => {
  event.preventDefault();
  const { path, done } = ACTIONS[kind];
  send(path, done);
});
document.getElementById("reject")?.addEventListener("click", () => {
  send("/auth/verify-email/reject", () =>
    conclude("Thank you", "Everything that was set up with your address was removed. You can close this page."),
  );
});

/** Removes the token from the address bar immediately, and with it from the history and from screenshots. */
function takeToken() {
  const given = new URLSearchParams(location.search).get("token");
  history.replaceState(null, "", location.pathname);
  return given;
}

async function send(path, done) {
  busy(true);
  try {
    const answer = await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ token }),
    });
    const { data, error } = await answer.json();
    if (!error) done(data);
    else if (Object.hasOwn(FINAL_ERRORS, error.code)) conclude(...FINAL_ERRORS[error.code], "error");
    else tryAgain(wordsOf(error));
  } catch {
    tryAgain("The service could not be reached. Try again.");
  }
}

function wordsOf({ code, message }) {
  return code === "RATE_LIMITED" ? "Too many attempts. Wait a minute, then try again." : message;
}

function tryAgain(text) {
  busy(false);
  show(text, "error");
}

function signedIn({ user, accessToken, isNewUser }) {
  conclude(isNewUser ? "Welcome to Taffrail" : "You are signed in", `Signed in as ${user.email}.`);
  offerCopy("Copy the access token (15 minutes)", accessToken);
}

/** Replaces the form by the final result. The heading states it, also to a screen reader. */
function conclude(title, text, className = "done") {
  form.hidden = true;
  heading.textContent = title;
  document.title = `${title} · Taffrail`;
  show(text, className);
  heading.tabIndex = -1;
  heading.focus();
}

/** Shows a line below the form, which stays. */
function show(text, className) {
  const line = document.createElement("p");
  line.className = className;
  line.textContent = text;
  result.replaceChildren(line);
  result.hidden = false;
}

/** Adds a button that copies a text without showing it. */
function offerCopy(label, text) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "second";
  button.textContent = label;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Copying is not possible";
    }
  });
  result.append(button);
}

function busy(is) {
  for (const button of form.querySelectorAll("button")) button.disabled = is;
}
