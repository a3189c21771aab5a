import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { request } from "../../api/request.ts";
import { useAction } from "../../lib/action.ts";
import { useLoad } from "../../lib/load.ts";
import { isSameSession } from "../../session/claims.ts";
import { endAtService } from "../../session/ending.ts";
import { rotated } from "../../session/rotate.ts";
import { signIn } from "../../session/session.ts";
import type { StoredUser } from "../../session/stored.ts";
import { Button } from "../../ui/button.tsx";
import { Card, Row } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Failure, Loading } from "../../ui/states.tsx";
import { DeadEnd } from "./mailed-link.tsx";

interface TokensArrivedProps {
  accessToken: string;
  refreshToken: string;
}

/**
 * Tokens in the address itself, of a sign-in that this console did not begin. Anybody can make such a link, to an account of
 * their own too: so it says whose it is, and asks. They travelled in the open, so they are exchanged at once. The name comes
 * by the access token and the session by the refresh token: nobody is signed in unless both are of one session.
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
      // Said before anything is waited for. The token has been in an address, so its session is better ended.
      setIsMixed(true);
      await endAtService(pair.refreshToken);
      return;
    }
    await signIn({ ...pair, user });
    route("/", true);
  });
  if (isMixed) {
    return (
      <DeadEnd title="Not signed in" to="/login" action="Go to the sign-in page">
        The two parts of this sign-in are of different accounts or sessions, so somebody has changed the link. Do not
        use it again. Begin on the sign-in page.
      </DeadEnd>
    );
  }
  if (failure?.status === 401 || going.failure?.status === 401) {
    return (
      <DeadEnd title="Not signed in" to="/login" action="Go to the sign-in page">
        This sign-in is over. Begin again.
      </DeadEnd>
    );
  }
  if (failure) return <Failure failure={failure} onRetry={reload} />;
  if (data === null) return <Loading what="One moment" />;
  return (
    <Card>
      <p>
        The provider let you in as <strong>{data.email}</strong>.
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
