import { useEffect } from "preact/hooks";
import { useLocation } from "preact-iso";
import { request } from "../../api/request.ts";
import { useAction } from "../../lib/action.ts";
import { withNext } from "../../session/next-path.ts";
import { type SignedIn, signIn } from "../../session/session.ts";
import { Failure, Loading } from "../../ui/states.tsx";
import { toast } from "../../ui/toasts.tsx";
import { DeadEnd, isDead } from "./mailed-link.tsx";
import type { Trip } from "./providers.ts";

/** Exchanges the code for a session, with the verifier that only the tab that began has. */
export function CodeArrived({ code, trip }: { code: string; trip: Trip | null }) {
  const { route } = useLocation();
  const next = trip?.next ?? "/";
  const { run, failure } = useAction(async (codeVerifier: string) => {
    const body = { code, codeVerifier };
    const { data } = await request<SignedIn & { isNewUser: boolean }>("/auth/oauth/exchange", { body });
    // Nobody gets in through a provider without a confirmed address.
    await signIn({ ...data, user: { ...data.user, emailVerified: true } });
    if (data.isNewUser) toast(`Welcome! Your account is made: ${data.user.email}`);
    route(next, true);
  });
  const verifier = trip?.verifier ?? null;
  useEffect(() => {
    if (verifier !== null) void run(verifier);
  }, []);
  if (verifier === null) {
    return (
      <DeadEnd title="Not signed in" to="/login" action="Go to the sign-in page">
        This sign-in was begun in another tab or browser, which alone can finish it. Begin again here.
      </DeadEnd>
    );
  }
  if (failure === null) return <Loading what="Signing in" />;
  if (isDead(failure)) {
    return (
      <DeadEnd title="Not signed in" to={withNext("/login", next)} action="Back to the sign-in page">
        The way back took too long, or was used already. Begin again.
      </DeadEnd>
    );
  }
  return (
    <>
      <Failure failure={failure} onRetry={() => run(verifier)} isRepeated={false} />
      {failure.status === 429 ? (
        <p>
          The provider has let you in; only the last step is missing. Your network address has used up its sign-in
          requests of this minute, so waiting helps. Should the way back have run out by then,{" "}
          <a href={withNext("/login", next)}>begin again</a>.
        </p>
      ) : null}
    </>
  );
}
