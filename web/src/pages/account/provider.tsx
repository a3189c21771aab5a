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
export function ProviderItem(props: ProviderItemProps) {
  return props.methods.providers.includes(props.provider) ? <LinkedItem {...props} /> : <UnlinkedItem {...props} />;
}

function Title({ provider, isLinked }: { provider: ProviderName; isLinked: boolean }) {
  const { name, kind } = PROVIDER_LABELS[provider];
  return (
    <>
      {name.charAt(0).toUpperCase() + name.slice(1)} <span class={css.quiet}>({kind})</span>{" "}
      {isLinked ? <Badge tone="good">Linked</Badge> : <Badge>Not linked</Badge>}
    </>
  );
}

function UnlinkedItem({ provider, user }: ProviderItemProps) {
  const { name } = PROVIDER_LABELS[provider];
  const isVerified = user.emailVerified !== false;
  const { run, busy, failure } = useAction(async () => {
    const { data } = await authorized<{ authorizeUrl: string }>(`/auth/link/${provider}`, { method: "POST" });
    beginTrip({ provider, verifier: null, next: "/auth/account" });
    location.assign(data.authorizeUrl);
  });
  const wait = useWait(failure);
  if (failure?.code === "OAUTH_NOT_CONFIGURED") markMissing(provider);
  const isMissing = missingProviders().includes(provider);
  return (
    <Item
      title={<Title provider={provider} isLinked={false} />}
      actions={
        isMissing ? null : (
          <Button small busy={busy} disabled={!isVerified || wait > 0} onClick={() => run()}>
            Link {name}
          </Button>
        )
      }
    >
      {isMissing ? (
        <p class={css.quiet} role="status">
          Not set up on this service.
        </p>
      ) : (
        <>
          {isVerified ? null : <p class={css.quiet}>Confirm your e-mail address first.</p>}
          <Problem failure={failure} />
        </>
      )}
    </Item>
  );
}

function LinkedItem({ provider, methods, onChange }: ProviderItemProps) {
  const { name } = PROVIDER_LABELS[provider];
  const [isAsking, setIsAsking] = useState(false);
  const isLast = !methods.hasPassword && methods.providers.length === 1;
  return (
    <Item
      title={<Title provider={provider} isLinked />}
      actions={
        <Button small disabled={isLast} onClick={() => setIsAsking(true)}>
          Unlink {name}
        </Button>
      }
    >
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
    </Item>
  );
}
