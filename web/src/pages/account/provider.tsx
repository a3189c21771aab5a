import { useState } from "preact/hooks";
import { useWait } from "../../lib/countdown.ts";
import type { Methods, ProviderName } from "../../model/account.ts";
import { authorized } from "../../session/session.ts";
import type { StoredUser } from "../../session/storage.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Item } from "../../ui/items.tsx";
import { Row } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { toast } from "../../ui/toasts.tsx";
import { configuredProviders, PROVIDER_LABELS, storeProviderAttempt } from "../auth/providers.ts";
import css from "./account.module.css";
import { ReauthenticationDialog, useReauthentication } from "./reauthentication.tsx";
import { pathOf, type Step } from "./steps.ts";

interface ProviderItemProps {
  provider: ProviderName;
  user: StoredUser;
  methods: Methods;
  /** The step that a new sign-in interrupted. */
  step: Step | null;
  onChange: (methods: Methods) => void;
}

/** One provider with a button to link or unlink it. Empty if the service has not configured the provider. */
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
  const linking = useReauthentication(async (shown) => {
    const { data } = await authorized<{ authorizeUrl: string }>(`/auth/link/${provider}`, { body: shown });
    storeProviderAttempt({ provider, verifier: null, next: "/auth/account" });
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
        <ReauthenticationDialog
          reauthentication={linking}
          user={user}
          methods={methods}
          next={pathOf(`link-${provider}`)}
        />
      ) : (
        <Problem failure={failure} />
      )}
      {isResumed && isVerified && !linking.isAsking ? (
        <Dialog title={`Link ${name}?`} onClose={() => setIsResumed(false)}>
          <p>You are signed in again. Continue to {name} to link your account there.</p>
          <Row>
            <Button look="primary" busy={busy} disabled={wait > 0} onClick={() => run()}>
              Continue to {name}
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
  const unlinking = useReauthentication(async (shown) => {
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
        <p class={css.quiet}>This is your only sign-in method. Set a password or link another provider first.</p>
      ) : null}
      {unlinking.isAsking ? (
        <ReauthenticationDialog
          reauthentication={unlinking}
          user={user}
          methods={methods}
          next={pathOf(`unlink-${provider}`)}
        />
      ) : isAsking && !isLast ? (
        <Confirm
          title={`Unlink ${name}?`}
          action={`Unlink ${name}`}
          onClose={() => setIsAsking(false)}
          onConfirm={unlinking.run}
        >
          <p>You can no longer sign in with it. Existing sessions stay signed in.</p>
          <Problem failure={unlinking.failure} />
        </Confirm>
      ) : null}
    </Item>
  );
}
