import { useState } from "preact/hooks";
import { useAction } from "../../lib/action.ts";
import { useWait } from "../../lib/countdown.ts";
import type { Methods, ProviderName } from "../../model/account.ts";
import { authorized } from "../../session/session.ts";
import type { StoredUser } from "../../session/stored.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Item } from "../../ui/items.tsx";
import { Problem } from "../../ui/problem.tsx";
import { toast } from "../../ui/toasts.tsx";
import { beginTrip, markMissing, missingProviders, PROVIDER_LABELS } from "../auth/providers.ts";
import css from "./account.module.css";

interface ProviderItemProps {
  provider: ProviderName;
  user: StoredUser;
  methods: Methods;
  onChange: (methods: Methods) => void;
}

/** One provider: linked or not, and the way to change that. */
export function ProviderItem({ provider, user, methods, onChange }: ProviderItemProps) {
  const { name, kind } = PROVIDER_LABELS[provider];
  const isLinked = methods.providers.includes(provider);
  const title = name.charAt(0).toUpperCase() + name.slice(1);
  return (
    <Item
      title={
        <>
          {title} <span class={css.quiet}>({kind})</span>{" "}
          {isLinked ? <Badge tone="good">Linked</Badge> : <Badge>Not linked</Badge>}
        </>
      }
    >
      {isLinked ? (
        <Unlink provider={provider} methods={methods} onChange={onChange} />
      ) : (
        <Link provider={provider} isVerified={user.emailVerified !== false} />
      )}
    </Item>
  );
}

function Link({ provider, isVerified }: { provider: ProviderName; isVerified: boolean }) {
  const { name } = PROVIDER_LABELS[provider];
  const [isMissing, setIsMissing] = useState(() => missingProviders().includes(provider));
  const { run, busy, failure } = useAction(async () => {
    const { data } = await authorized<{ authorizeUrl: string }>(`/auth/link/${provider}`, { method: "POST" });
    beginTrip({ provider, verifier: null, next: "/auth/account" });
    location.assign(data.authorizeUrl);
  });
  const wait = useWait(failure);
  if (failure?.code === "OAUTH_NOT_CONFIGURED" && !isMissing) {
    markMissing(provider);
    setIsMissing(true);
  }
  if (isMissing) return <p class={css.quiet}>Not set up on this service.</p>;
  return (
    <>
      <div>
        <Button small busy={busy} disabled={!isVerified || wait > 0} onClick={() => run()}>
          Link {name}
        </Button>
      </div>
      {isVerified ? null : <p class={css.quiet}>Confirm your e-mail address first.</p>}
      <Problem failure={failure} />
    </>
  );
}

interface UnlinkProps {
  provider: ProviderName;
  methods: Methods;
  onChange: (methods: Methods) => void;
}

function Unlink({ provider, methods, onChange }: UnlinkProps) {
  const { name } = PROVIDER_LABELS[provider];
  const [isAsking, setIsAsking] = useState(false);
  const isLast = !methods.hasPassword && methods.providers.length === 1;
  return (
    <>
      <div>
        <Button small disabled={isLast} onClick={() => setIsAsking(true)}>
          Unlink {name}
        </Button>
      </div>
      {isLast ? (
        <p class={css.quiet}>
          A password or a provider must remain. Set a password, or link the other provider, first.
        </p>
      ) : null}
      {isAsking ? (
        <Confirm
          title={`Unlink ${name}?`}
          action={`Unlink ${name}`}
          onClose={() => setIsAsking(false)}
          onConfirm={async () => {
            await authorized(`/auth/link/${provider}`, { method: "DELETE" });
            setIsAsking(false);
            toast(`Unlinked ${name}.`);
            onChange({ ...methods, providers: methods.providers.filter((each) => each !== provider) });
          }}
        >
          <p>You cannot sign in with it any more. Sessions that you have stay.</p>
        </Confirm>
      ) : null}
    </>
  );
}
