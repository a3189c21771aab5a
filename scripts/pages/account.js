// The script of the pages that a browser gets for the API's own link addresses: sends the token when somebody clicks, and
// says what came of it.
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

/** After these the link is of no more use. */
const DEAD_ENDS = {
  INVALID_TOKEN: ["This link is not valid", "It was used already, or a newer one was sent. You can ask for a new one."],
  TOKEN_EXPIRED: ["This link has expired", "Ask for a new one."],
};

if (!token) conclude("This link is incomplete", "Open it from the mail again, or copy all of it.", "error");
form.addEventListener("submit", (event) => {
  event.preventDefault();
  const { path, done } = ACTIONS[kind];
  send(path, done);
});
document.getElementById("reject")?.addEventListener("click", () => {
  send("/auth/verify-email/reject", () =>
    conclude("Thank you", "Whatever was set up with your address has been removed. You can close this page."),
  );
});

/** The token leaves the address bar at once, and with it the history and what a screenshot would show. */
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
    else if (Object.hasOwn(DEAD_ENDS, error.code)) conclude(...DEAD_ENDS[error.code], "error");
    else tryAgain(wordsOf(error));
  } catch {
    tryAgain("The service could not be reached. Try again.");
  }
}

function wordsOf({ code, message }) {
  return code === "RATE_LIMITED" ? "Too many tries just now. Wait a minute, then try again." : message;
}

function tryAgain(text) {
  busy(false);
  show(text, "error");
}

function signedIn({ user, accessToken, isNewUser }) {
  conclude(isNewUser ? "Welcome to Taffrail" : "You are signed in", `Signed in as ${user.email}.`);
  offerCopy("Copy the access token (15 minutes)", accessToken);
}

/** The end of what the page is for, in place of its form: the heading says it, to a screen reader too. */
function conclude(title, text, className = "done") {
  form.hidden = true;
  heading.textContent = title;
  document.title = `${title} · Taffrail`;
  show(text, className);
  heading.tabIndex = -1;
  heading.focus();
}

/** A line below the form, which stays. */
function show(text, className) {
  const line = document.createElement("p");
  line.className = className;
  line.textContent = text;
  result.replaceChildren(line);
  result.hidden = false;
}

/** A button that copies a text which is better not shown. */
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
      button.textContent = "The browser does not let this page copy";
    }
  });
  result.append(button);
}

function busy(is) {
  for (const button of form.querySelectorAll("button")) button.disabled = is;
}
