import { useEffect, useState } from "preact/hooks";
import { clearLinkParameters, type LinkParameters, linkParametersOf } from "../../session/link-parameters.ts";
import { withNext } from "../../session/next-path.ts";
import { Page } from "../../ui/page.tsx";
import { CodeArrived } from "./callback-code.tsx";
import { LinkCodeArrived, Linked } from "./callback-link.tsx";
import { TokensArrived } from "./callback-tokens.tsx";
import { FailedOutcome } from "./mailed-link.tsx";
import { isProvider, PROVIDER_LABELS, type ProviderAttempt, takeProviderAttempt } from "./providers.ts";

/** The page to which every provider sign-in returns. */
export function Callback() {
  const [attempt] = useState(takeProviderAttempt);
  useEffect(() => () => clearLinkParameters("/auth/callback"), []);
  return (
    <Page title="Back from the provider" narrow>
      <Arrival parameters={linkParametersOf("/auth/callback")} attempt={attempt} />
    </Page>
  );
}

function Arrival({ parameters, attempt }: { parameters: LinkParameters; attempt: ProviderAttempt | null }) {
  const { error, code, linked, linkCode, accessToken, refreshToken } = parameters;
  if (error !== undefined) return <Failed code={error} attempt={attempt} />;
  if (code !== undefined) return <CodeArrived code={code} attempt={attempt} />;
  if (isProvider(linked)) return <Linked provider={linked} isOwn={attempt?.provider === linked} />;
  if (linkCode !== undefined) return <LinkCodeArrived linkCode={linkCode} />;
  if (accessToken !== undefined && refreshToken !== undefined) {
    return <TokensArrived accessToken={accessToken} refreshToken={refreshToken} />;
  }
  return (
    <FailedOutcome title="Nothing to do here" to="/" action="Go to home page">
      A provider sign-in returns to this page. It was reloaded or opened directly.
    </FailedOutcome>
  );
}

/** Message for each error code of a provider sign-in. */
const PROBLEMS: Readonly<Record<string, string>> = {
  OAUTH_ACCESS_DENIED: "Access was denied at the provider. Nothing was changed.",
  OAUTH_EMAIL_UNVERIFIED: "The provider has no verified e-mail address of yours. Verify it there, then try again.",
  OAUTH_PROVIDER_ERROR: "The provider returned an error. Try again later, or use another sign-in method.",
  OAUTH_STATE_INVALID:
    "This sign-in was started in another browser, took more than 10 minutes, or was already used. Start again.",
  PROVIDER_ALREADY_LINKED: "That provider account is linked to another Taffrail account. Unlink it there first.",
  EMAIL_NOT_VERIFIED: "Confirm your e-mail address first. You can request a link on the account page.",
  SESSION_REVOKED: "Your session ended. Sign in, then start again.",
  RATE_LIMITED:
    "Your IP address has reached the limit of sign-in requests. Nothing was changed. Try again in a minute.",
  SERVICE_UNAVAILABLE: "The service is busy. Try again later.",
};

function Failed({ code, attempt }: { code: string; attempt: ProviderAttempt | null }) {
  const who = attempt ? PROVIDER_LABELS[attempt.provider].name : "that provider";
  const words =
    code === "OAUTH_NOT_CONFIGURED"
      ? `Sign-in with ${who} is not configured. Use another method.`
      : Object.hasOwn(PROBLEMS, code)
        ? PROBLEMS[code]
        : "Something went wrong. Try again.";
  return attempt?.verifier === null ? (
    <FailedOutcome title="Not linked" to={attempt.next} action="Back to your account">
      {words}
    </FailedOutcome>
  ) : (
    <FailedOutcome
      title="Not signed in"
      to={withNext("/login", attempt?.next ?? "/")}
      action="Back to the sign-in page"
    >
      {words}
    </FailedOutcome>
  );
}
