import { useEffect } from "preact/hooks";
import { useLocation } from "preact-iso";
import { useAction } from "../../lib/action.ts";
import { keepMethods, type ProviderName } from "../../model/account.ts";
import { authorized, user } from "../../session/session.ts";
import { Failure, Loading } from "../../ui/states.tsx";
import { toast } from "../../ui/toasts.tsx";
import { FailedOutcome, isInvalidLink } from "./mailed-link.tsx";
import { PROVIDER_LABELS } from "./providers.ts";

const ACCOUNT = "/auth/account";

/**
 * Returns to the account page after a provider was linked.
 * @param isOwn whether this tab started the link. Any site can link to this page, so otherwise no message is shown.
 */
export function Linked({ provider, isOwn }: { provider: ProviderName; isOwn: boolean }) {
  const { route } = useLocation();
  useEffect(() => {
    if (isOwn) announceLinked(provider);
    route(ACCOUNT, true);
  }, []);
  return <Loading what="Returning to your account" />;
}

/**
 * Confirms a link that returned without the cookie of the browser that started it: the account that started it must
 * confirm.
 */
export function LinkCodeArrived({ linkCode }: { linkCode: string }) {
  const { route } = useLocation();
  const { run, failure } = useAction(async () => {
    const { data } = await authorized<{ linked: ProviderName }>("/auth/link/confirm", { body: { linkCode } });
    announceLinked(data.linked);
    route(ACCOUNT, true);
  });
  const isSignedIn = user.value !== null;
  useEffect(() => {
    if (isSignedIn) void run();
  }, []);
  if (!isSignedIn) {
    return (
      <FailedOutcome title="Not linked" to={`/login?next=${encodeURIComponent(ACCOUNT)}`} action="Sign in">
        Sign in to the account that you want to link, then start again on its account page.
      </FailedOutcome>
    );
  }
  if (failure === null) return <Loading what="Linking" />;
  if (isInvalidLink(failure)) {
    return (
      <FailedOutcome title="Not linked" to={ACCOUNT} action="Back to your account">
        The link expired, was already used, or was started by another account. Start again.
      </FailedOutcome>
    );
  }
  return <Failure failure={failure} onRetry={run} isRepeated={false} />;
}

function announceLinked(provider: ProviderName): void {
  // The cached sign-in methods are outdated.
  keepMethods(null);
  toast(`Linked ${PROVIDER_LABELS[provider].name}.`);
}
