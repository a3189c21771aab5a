import { useEffect } from "preact/hooks";
import { useLocation } from "preact-iso";
import { useAction } from "../../lib/action.ts";
import { keepMethods, type ProviderName } from "../../model/account.ts";
import { authorized, user } from "../../session/session.ts";
import { Failure, Loading } from "../../ui/states.tsx";
import { toast } from "../../ui/toasts.tsx";
import { DeadEnd, isDead } from "./mailed-link.tsx";
import { PROVIDER_LABELS } from "./providers.ts";

const ACCOUNT = "/auth/account";

/**
 * The provider is linked to the account.
 * @param isOwn whether this tab set out for it: anybody can make a link that ends here, and nothing is said to that one
 */
export function Linked({ provider, isOwn }: { provider: ProviderName; isOwn: boolean }) {
  const { route } = useLocation();
  useEffect(() => {
    if (isOwn) sayLinked(provider);
    route(ACCOUNT, true);
  }, []);
  return <Loading what="Going back to your account" />;
}

/** Came back without the cookie of the browser that began: the account that began has to confirm it. */
export function LinkCodeArrived({ linkCode }: { linkCode: string }) {
  const { route } = useLocation();
  const { run, failure } = useAction(async () => {
    const { data } = await authorized<{ linked: ProviderName }>("/auth/link/confirm", { body: { linkCode } });
    sayLinked(data.linked);
    route(ACCOUNT, true);
  });
  const isSignedIn = user.value !== null;
  useEffect(() => {
    if (isSignedIn) void run();
  }, []);
  if (!isSignedIn) {
    return (
      <DeadEnd title="Not linked" to={`/login?next=${encodeURIComponent(ACCOUNT)}`} action="Sign in">
        Sign in to the account that you want to link, and begin again on its account page.
      </DeadEnd>
    );
  }
  if (failure === null) return <Loading what="Linking" />;
  if (isDead(failure)) {
    return (
      <DeadEnd title="Not linked" to={ACCOUNT} action="Back to your account">
        The way back took too long, was used already, or was begun by another account. Begin again.
      </DeadEnd>
    );
  }
  return <Failure failure={failure} onRetry={run} isRepeated={false} />;
}

function sayLinked(provider: ProviderName): void {
  // What is known of the ways to sign in is old now.
  keepMethods(null);
  toast(`Linked: you can sign in with ${PROVIDER_LABELS[provider].name} from now on.`);
}
