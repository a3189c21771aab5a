// The script of the page behind an invitation's link. Accepting it takes a session, which this page has not.
import { conclude, offerCopy } from "./page.js";

const token = new URLSearchParams(location.hash.slice(1)).get("token");
history.replaceState(null, "", location.pathname);
addEventListener("hashchange", () => location.reload());

if (token) {
  conclude(
    "You are invited",
    "Sign in, or register, with the very address that the mail came to, and confirm that address. Then accept the invitation within 7 days.",
  );
  offerCopy("Copy the token for POST /invitations/accept", token);
} else {
  conclude("This link is incomplete", "Open it from the mail again, or copy all of it.", "error");
}
