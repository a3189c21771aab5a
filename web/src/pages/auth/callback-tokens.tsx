import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { request } from "../../api/request.ts";
import { useAction } from "../../lib/action.ts";
import { useLoad } from "../../lib/load.ts";
import { isSameSession } from "../../session/claims.ts";
import { endAtService } from "../../session/pending-sign-out.ts";
import { rotated } from "../../session/rotate.ts";
import { signIn } from "../../session/session.ts";
import type { StoredUser } from "../../session/storage.ts";
import { Button } from "../../ui/button.tsx";
import { Card, Row } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Failure, Loading } from "../../ui/states.tsx";
import { FailedOutcome } from "./mailed-link.tsx";

interface TokensArrivedProps {
  accessToken: string;
  refreshToken: string;
}

/**
 * Handles tokens in the address, from a sign-in that this console did not start. Any site can make such a link, also to
 * an account of its own, so the page shows the account and asks. The tokens were exposed in the address, so they are
 * exchanged immediately. The access token names the user and the refresh token starts the session: both must be of one
 * session.
 */
export function TokensArrived({ accessToken, refreshToken }: TokensArrivedProps) {
  const { route } = useLocation();
  const { data, failure, reload } = useLoad(accessToken, async (signal) => {
    const { data } = await request<{ user: StoredUser }>("/auth/me", { token: accessToken, signal });
    return data.user;
  });
  const [isMixed, setIsMixed] = useState(false);
  const going = useAction(async (user: StoredUser) => {
    const pair = await rotated(refreshToken, crypto.randomUUID());
    if (!isSameSession(accessToken, pair.accessToken)) {
      // Shown before the next await. The token has been in an address, so its session is ended.
      setIsMixed(true);
      await endAtService(pair.refreshToken);
      return;
    }
    await signIn({ ...pair, user });
    route("/", true);
  });
  if (isMixed) {
    return (
      <FailedOutcome title="Not signed in" to="/login" action="Go to the sign-in page">
        The two tokens of this sign-in belong to different accounts or sessions: the link was changed. Do not use it
        again. Start again on the sign-in page.
      </FailedOutcome>
    );
  }
  if (failure?.status === 401 || going.failure?.status === 401) {
    return (
      <FailedOutcome title="Not signed in" to="/login" action="Go to the sign-in page">
        This sign-in expired. Start again.
      </FailedOutcome>
    );
  }
  if (failure) return <Failure failure={failure} onRetry={reload} />;
  if (data === null) return <Loading what="Loading" />;
  return (
    <Card>
      <p>
        The provider signed you in as <strong>{data.email}</strong>.
      </p>
      <Row>
        <Button look="primary" busy={going.busy} onClick={() => going.run(data)}>
          Sign in with this account
        </Button>
        <Button onClick={() => route("/login", true)}>Not me</Button>
      </Row>
      <Problem failure={going.failure} />
    </Card>
  );
}
