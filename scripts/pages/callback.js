// The script of the page where a sign-in through a provider ends, for a service that is its own frontend.
import { conclude, offerCopy } from "./page.js";

const given = new URLSearchParams(location.search);
// Tokens and codes leave the address bar at once, and with it the history.
history.replaceState(null, "", location.pathname);

const PROBLEMS = {
  OAUTH_ACCESS_DENIED: "The access was denied at the provider.",
  OAUTH_EMAIL_UNVERIFIED: "The provider knows no verified e-mail address of yours. Verify it there first.",
  OAUTH_NOT_CONFIGURED: "This way to sign in is not set up on this service.",
  OAUTH_PROVIDER_ERROR: "The provider did not answer as it should. Try again.",
  OAUTH_STATE_INVALID: "It was not begun in this browser, took more than 10 minutes, or was over already. Begin again.",
  PROVIDER_ALREADY_LINKED: "This account at the provider is linked to another user here.",
  EMAIL_NOT_VERIFIED: "Verify the e-mail address of your account here first.",
  SESSION_REVOKED: "Your session has ended. Sign in, then begin again.",
  RATE_LIMITED: "Too many tries just now. Wait a minute, then begin again.",
};

if (given.has("accessToken")) {
  conclude(given.get("isNewUser") === "true" ? "Welcome to Taffrail" : "You are signed in", "You can close this page.");
  offerCopy("Copy the access token (15 minutes)", given.get("accessToken"));
  offerCopy("Copy the refresh token (use it within 30 minutes)", given.get("refreshToken"));
} else if (given.has("linked")) {
  conclude("Linked", `You can sign in with ${given.get("linked")} from now on. You can close this page.`);
} else if (given.has("linkCode")) {
  conclude("One more step", "Confirm the link within 60 seconds, where you are signed in and began it.");
  offerCopy("Copy the code for POST /auth/link/confirm", given.get("linkCode"));
} else if (given.has("code")) {
  conclude("One more step", "Exchange the code within 60 seconds, with the verifier that you began with.");
  offerCopy("Copy the code for POST /auth/oauth/exchange", given.get("code"));
} else if (given.has("error")) {
  const code = given.get("error");
  const known = Object.hasOwn(PROBLEMS, code);
  conclude("That did not work", known ? PROBLEMS[code] : "Something went wrong. Try again.", "error");
} else {
  conclude("There is nothing here", "A sign-in through a provider ends on this page.", "error");
}
