// The script of the pages behind mailed links: sends the token when somebody clicks, and says what came of it.
import { conclude, offerCopy, show } from "./page.js";

const kind = document.body.dataset.kind;
const form = document.getElementById("form");
const token = takeToken();

const ACTIONS = {
  "verify-email": {
    path: "/auth/verify-email",
    done: () => conclude("Your address is confirmed", "You can close this page."),
  },
  "magic-link": { path: "/auth/magic-link/verify", done: signedIn },
  "reset-password": {
    path: "/auth/reset-password",
    done: () => conclude("Your new password is set", "All sessions were ended. Sign in with the new password."),
  },
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
  const password = form.elements.namedItem("password");
  send(path, password ? { token, password: password.value } : { token }, done);
});
document.getElementById("reject")?.addEventListener("click", () => {
  send("/auth/verify-email/reject", { token }, () =>
    conclude("Thank you", "Whatever was set up with your address has been removed. You can close this page."),
  );
});
// A second link pasted into this tab changes the fragment alone: the page has to begin anew with the new token.
addEventListener("hashchange", () => location.reload());

/** The token leaves the address bar at once, and with it the history and what a screenshot would show. */
function takeToken() {
  const given =
    new URLSearchParams(location.hash.slice(1)).get("token") ?? new URLSearchParams(location.search).get("token");
  history.replaceState(null, "", location.pathname);
  return given;
}

async function send(path, body, done) {
  busy(true);
  try {
    const answer = await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    const { data, error } = await answer.json();
    if (!error) done(data);
    else if (Object.hasOwn(DEAD_ENDS, error.code)) conclude(...DEAD_ENDS[error.code], "error");
    else tryAgain(wordsOf(error));
  } catch {
    tryAgain("The service could not be reached. Try again.");
  }
}

function wordsOf({ code, message, details }) {
  if (code === "RATE_LIMITED") return "Too many tries just now. Wait a minute, then try again.";
  const [detail] = details ?? [];
  return detail?.path === "password" ? `The password ${detail.message}.` : message;
}

function tryAgain(text) {
  busy(false);
  show(text, "error");
}

function signedIn({ user, accessToken, isNewUser }) {
  conclude(isNewUser ? "Welcome to Taffrail" : "You are signed in", `Signed in as ${user.email}.`);
  offerCopy("Copy the access token (15 minutes)", accessToken);
}

function busy(is) {
  for (const button of form.querySelectorAll("button")) button.disabled = is;
}
