import { useState } from "preact/hooks";
import { useLoad } from "../../lib/load.ts";
import { keepMethods, loadMethods, type Methods, PROVIDERS } from "../../model/account.ts";
import type { StoredUser } from "../../session/stored.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Item, Items } from "../../ui/items.tsx";
import { Card } from "../../ui/page.tsx";
import { Failure, Loading } from "../../ui/states.tsx";
import css from "./account.module.css";
import { PasswordDialog } from "./password.tsx";
import { ProviderItem } from "./provider.tsx";
import type { Step } from "./steps.ts";

interface WaysInProps {
  user: StoredUser;
  /** What a new sign-in came between. */
  step: Step | null;
  onNewPassword: () => void;
}

/** The ways to sign in to this account, and changing them. */
export function WaysIn({ user, step, onNewPassword }: WaysInProps) {
  const { data, failure, reload, put } = useLoad(user.id, loadMethods);
  const change = (methods: Methods): void => {
    keepMethods(methods);
    put(methods);
  };
  return (
    <Card title="Ways to sign in">
      {data === null ? (
        failure ? (
          <Failure failure={failure} onRetry={reload} />
        ) : (
          <Loading />
        )
      ) : (
        <Items label="Ways to sign in">
          <PasswordItem
            user={user}
            methods={data}
            isOpen={step === "password"}
            onSet={() => {
              change({ ...data, hasPassword: true });
              onNewPassword();
            }}
          />
          <Item title={<>Mailed link {<Badge tone="good">Always possible</Badge>}</>}>
            <p class={css.quiet}>A link to {user.email}, on the sign-in page.</p>
          </Item>
          {PROVIDERS.map((provider) => (
            <ProviderItem key={provider} provider={provider} user={user} methods={data} step={step} onChange={change} />
          ))}
        </Items>
      )}
    </Card>
  );
}

interface PasswordItemProps {
  user: StoredUser;
  methods: Methods;
  /** Whether its dialog is open from the beginning. */
  isOpen: boolean;
  onSet: () => void;
}

function PasswordItem({ user, methods, isOpen: isOpenFirst, onSet }: PasswordItemProps) {
  const [isOpen, setIsOpen] = useState(isOpenFirst);
  const { hasPassword } = methods;
  return (
    <Item
      title={<>Password {hasPassword ? <Badge tone="good">Set</Badge> : <Badge>Not set</Badge>}</>}
      actions={
        <Button small onClick={() => setIsOpen(true)}>
          {hasPassword ? "Change the password" : "Set a password"}
        </Button>
      }
    >
      {isOpen ? (
        <PasswordDialog
          user={user}
          methods={methods}
          onClose={() => setIsOpen(false)}
          onDone={() => {
            setIsOpen(false);
            onSet();
          }}
        />
      ) : null}
    </Item>
  );
}
