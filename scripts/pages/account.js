// The script of the pages behind mailed links: sends the token when somebody clicks, and says what came of it.
const kind = document.body.dataset.kind;
const form = document.getElementById("form");
const result = document.getElementById("result");
const token = takeToken();

const ACTIONS = {
  "verify-email": {
    path: "/auth/verify-email",
    done: () => say("Your address is confirmed", "You can close this page."),
  },
  "magic-link": { path: "/auth/magic-link/verify", done: signedIn },
  "reset-password": {
    path: "/auth/reset-password",
    done: () => say("Your new password is set", "All sessions were ended. Sign in with the new password."),
  },
};

const PROBLEMS = {
  INVALID_TOKEN: "This link is not valid any more: it was used already, or a newer one was sent.",
  TOKEN_EXPIRED: "This link has expired. Ask for a new one.",
  RATE_LIMITED: "Too many tries just now. Wait a minute, then try again.",
};

if (!token) fail("This link is incomplete. Open it from the mail again, or copy all of it.");
form.addEventListener("submit", (event) => {
  event.preventDefault();
  const { path, done } = ACTIONS[kind];
  const password = form.elements.namedItem("password");
  send(path, password ? { token, password: password.value } : { token }, done);
});
document.getElementById("reject")?.addEventListener("click", () => {
  send("/auth/verify-email/reject", { token }, () =>
    say("Thank you", "Whatever was set up with your address has been removed. You can close this page."),
  );
});

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
    if (error) {
      const again = error.code !== "INVALID_TOKEN" && error.code !== "TOKEN_EXPIRED";
      fail(PROBLEMS[error.code] ?? error.message, again);
    } else done(data);
  } catch {
    fail("The service could not be reached. Try again.", true);
  }
}

function signedIn({ user, accessToken, isNewUser }) {
  say(isNewUser ? "Welcome to Taffrail" : "You are signed in", `Signed in as ${user.email}.`);
  const copy = document.createElement("button");
  copy.type = "button";
  copy.className = "second";
  copy.textContent = "Copy the access token (15 minutes)";
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(accessToken);
    copy.textContent = "Copied";
  });
  result.append(copy);
}

function say(title, text) {
  document.querySelector("h1").textContent = title;
  form.hidden = true;
  show(text, "done");
}

function fail(text, again = false) {
  busy(false);
  form.hidden = !again;
  show(text, "error");
}

function show(text, className) {
  const line = document.createElement("p");
  line.className = className;
  line.textContent = text;
  result.replaceChildren(line);
  result.hidden = false;
}

function busy(is) {
  for (const button of form.querySelectorAll("button")) button.disabled = is;
}
