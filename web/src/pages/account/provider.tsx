import { useState } from "preact/hooks";
import { useWait } from "../../lib/countdown.ts";
import type { Methods, ProviderName } from "../../model/account.ts";
import { authorized } from "../../session/session.ts";
import type { StoredUser } from "../../session/stored.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Item } from "../../ui/items.tsx";
import { Row } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { toast } from "../../ui/toasts.tsx";
import { beginTrip, configuredProviders, PROVIDER_LABELS } from "../auth/providers.ts";
import css from "./account.module.css";
import { ProveDialog, useProven } from "./proven.tsx";
import { pathOf, type Step } from "./steps.ts";

interface ProviderItemProps {
  provider: ProviderName;
  user: StoredUser;
  methods: Methods;
  /** What a new sign-in came between. */
  step: Step | null;
  onChange: (methods: Methods) => void;
}

/** One provider: linked or not, and the way to change that. Nothing where the service has no use for it. */
export function ProviderItem(props: ProviderItemProps) {
  const { provider, methods } = props;
  if (methods.providers.includes(provider)) return <LinkedItem {...props} />;
  return configuredProviders().includes(provider) ? <UnlinkedItem {...props} /> : null;
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

function UnlinkedItem({ provider, user, methods, step }: ProviderItemProps) {
  const { name } = PROVIDER_LABELS[provider];
  const isVerified = user.emailVerified !== false;
  const [isResumed, setIsResumed] = useState(step === `link-${provider}`);
  const linking = useProven(async (shown) => {
    const { data } = await authorized<{ authorizeUrl: string }>(`/auth/link/${provider}`, { body: shown });
    beginTrip({ provider, verifier: null, next: "/auth/account" });
    location.assign(data.authorizeUrl);
  });
  const { run, busy, failure } = linking;
  const wait = useWait(failure);
  return (
    <Item
      title={<Title provider={provider} isLinked={false} />}
      actions={
        <Button small busy={busy} disabled={!isVerified || wait > 0} onClick={() => run()}>
          Link {name}
        </Button>
      }
    >
      {isVerified ? null : <p class={css.quiet}>Confirm your e-mail address first.</p>}
      {linking.isAsking ? (
        <ProveDialog proven={linking} user={user} methods={methods} next={pathOf(`link-${provider}`)} />
      ) : (
        <Problem failure={failure} />
      )}
      {isResumed && isVerified && !linking.isAsking ? (
        <Dialog title={`Link ${name}?`} onClose={() => setIsResumed(false)}>
          <p>You are signed in again. Go on to {name}, and link the account that you have there.</p>
          <Row>
            <Button look="primary" busy={busy} disabled={wait > 0} onClick={() => run()}>
              Go on to {name}
            </Button>
            <Button onClick={() => setIsResumed(false)}>Cancel</Button>
          </Row>
        </Dialog>
      ) : null}
    </Item>
  );
}

function LinkedItem({ provider, user, methods, step, onChange }: ProviderItemProps) {
  const { name } = PROVIDER_LABELS[provider];
  const [isAsking, setIsAsking] = useState(step === `unlink-${provider}`);
  const unlinking = useProven(async (shown) => {
    await authorized(`/auth/link/${provider}`, { method: "DELETE", body: shown });
    setIsAsking(false);
    toast(`Unlinked ${name}.`);
    onChange({ ...methods, providers: methods.providers.filter((each) => each !== provider) });
  });
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
      {unlinking.isAsking ? (
        <ProveDialog proven={unlinking} user={user} methods={methods} next={pathOf(`unlink-${provider}`)} />
      ) : isAsking && !isLast ? (
        <Confirm
          title={`Unlink ${name}?`}
          action={`Unlink ${name}`}
          onClose={() => setIsAsking(false)}
          onConfirm={unlinking.run}
        >
          <p>You cannot sign in with it any more. Sessions that you have stay.</p>
          <Problem failure={unlinking.failure} />
        </Confirm>
      ) : null}
    </Item>
  );
}
