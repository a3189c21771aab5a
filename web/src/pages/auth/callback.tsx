import { useEffect, useState } from "preact/hooks";
import { forgetGivenTo, type Given, givenTo } from "../../session/address.ts";
import { withNext } from "../../session/next-path.ts";
import { Page } from "../../ui/page.tsx";
import { CodeArrived } from "./callback-code.tsx";
import { LinkCodeArrived, Linked } from "./callback-link.tsx";
import { TokensArrived } from "./callback-tokens.tsx";
import { DeadEnd } from "./mailed-link.tsx";
import { isProvider, PROVIDER_LABELS, type Trip, takeTrip } from "./providers.ts";

/** Where every trip to a provider ends. */
export function Callback() {
  const [trip] = useState(takeTrip);
  useEffect(() => () => forgetGivenTo("/auth/callback"), []);
  return (
    <Page title="Back from the provider" narrow>
      <Arrival given={givenTo("/auth/callback")} trip={trip} />
    </Page>
  );
}

function Arrival({ given, trip }: { given: Given; trip: Trip | null }) {
  const { error, code, linked, linkCode, accessToken, refreshToken } = given;
  if (error !== undefined) return <Failed code={error} trip={trip} />;
  if (code !== undefined) return <CodeArrived code={code} trip={trip} />;
  if (isProvider(linked)) return <Linked provider={linked} isOwn={trip?.provider === linked} />;
  if (linkCode !== undefined) return <LinkCodeArrived linkCode={linkCode} />;
  if (accessToken !== undefined && refreshToken !== undefined) {
    return <TokensArrived accessToken={accessToken} refreshToken={refreshToken} />;
  }
  return (
    <DeadEnd title="There is nothing here" to="/" action="Go to the start">
      A sign-in through a provider ends on this page. It was loaded anew, or opened by itself.
    </DeadEnd>
  );
}

/** What the codes of a trip mean to whoever made it. */
const PROBLEMS: Readonly<Record<string, string>> = {
  OAUTH_ACCESS_DENIED: "The access was denied at the provider. Nothing was changed.",
  OAUTH_EMAIL_UNVERIFIED:
    "The provider knows no verified e-mail address of yours. Verify it there first, then try again.",
  OAUTH_PROVIDER_ERROR: "The provider did not answer as it should. Try again in a moment, or sign in another way.",
  OAUTH_STATE_INVALID: "It was not begun in this browser, took more than 10 minutes, or was over already. Begin again.",
  PROVIDER_ALREADY_LINKED: "That account at the provider is linked to another user here. Unlink it there first.",
  EMAIL_NOT_VERIFIED: "Confirm the e-mail address of your account first. Your account page sends you a link.",
  SESSION_REVOKED: "Your session ended meanwhile. Sign in, then begin again.",
  RATE_LIMITED:
    "Your network address has used up its sign-in requests of this minute. Nothing was changed. Wait a minute, then begin again.",
  SERVICE_UNAVAILABLE: "The service is busy right now. Try again in a moment.",
};

function Failed({ code, trip }: { code: string; trip: Trip | null }) {
  const who = trip ? PROVIDER_LABELS[trip.provider].name : "that provider";
  const words =
    code === "OAUTH_NOT_CONFIGURED"
      ? `This service is not set up for signing in through ${who}. Choose another way.`
      : Object.hasOwn(PROBLEMS, code)
        ? PROBLEMS[code]
        : "Something went wrong on the way. Try again.";
  return trip?.verifier === null ? (
    <DeadEnd title="Not linked" to={trip.next} action="Back to your account">
      {words}
    </DeadEnd>
  ) : (
    <DeadEnd title="Not signed in" to={withNext("/login", trip?.next ?? "/")} action="Back to the sign-in page">
      {words}
    </DeadEnd>
  );
}
