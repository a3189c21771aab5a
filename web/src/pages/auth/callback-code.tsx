import { useEffect } from "preact/hooks";
import { useLocation } from "preact-iso";
import { request } from "../../api/request.ts";
import { useAction } from "../../lib/action.ts";
import { withNext } from "../../session/next-path.ts";
import { type SignedIn, signIn } from "../../session/session.ts";
import { Failure, Loading } from "../../ui/states.tsx";
import { toast } from "../../ui/toasts.tsx";
import { FailedOutcome, isInvalidLink } from "./mailed-link.tsx";
import type { ProviderAttempt } from "./providers.ts";

/** Exchanges the code for a session, with the verifier that only the tab of the sign-in has. */
export function CodeArrived({ code, attempt }: { code: string; attempt: ProviderAttempt | null }) {
  const { route } = useLocation();
  const next = attempt?.next ?? "/";
  const { run, failure } = useAction(async (codeVerifier: string) => {
    const body = { code, codeVerifier };
    const { data } = await request<SignedIn & { isNewUser: boolean }>("/auth/oauth/exchange", { body });
    // A sign-in through a provider requires a confirmed address.
    await signIn({ ...data, user: { ...data.user, emailVerified: true } });
    if (data.isNewUser) toast(`Welcome! Account created for ${data.user.email}`);
    route(next, true);
  });
  const verifier = attempt?.verifier ?? null;
  useEffect(() => {
    if (verifier !== null) void run(verifier);
  }, []);
  if (verifier === null) {
    return (
      <FailedOutcome title="Not signed in" to="/login" action="Go to the sign-in page">
        This sign-in was started in another tab or browser. Start again here.
      </FailedOutcome>
    );
  }
  if (failure === null) return <Loading what="Signing in" />;
  if (isInvalidLink(failure)) {
    return (
      <FailedOutcome title="Not signed in" to={withNext("/login", next)} action="Back to the sign-in page">
        The sign-in expired or was already used. Start again.
      </FailedOutcome>
    );
  }
  return (
    <>
      <Failure failure={failure} onRetry={() => run(verifier)} isRepeated={false} />
      {failure.status === 429 ? (
        <p>
          The provider accepted your sign-in; only the last step is missing. Your IP address has reached the limit of
          sign-in requests. If this sign-in has expired by then, <a href={withNext("/login", next)}>start again</a>.
        </p>
      ) : null}
    </>
  );
}
