import { useState } from "preact/hooks";
import { useLoad } from "../../lib/load.ts";
import { keepMethods, loadMethods, type Methods, PROVIDERS } from "../../model/account.ts";
import type { StoredUser } from "../../session/storage.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Item, Items } from "../../ui/items.tsx";
import { Card } from "../../ui/page.tsx";
import { Failure, Loading } from "../../ui/states.tsx";
import css from "./account.module.css";
import { PasswordDialog } from "./password.tsx";
import { ProviderItem } from "./provider.tsx";
import type { Step } from "./steps.ts";

interface SignInMethodsProps {
  user: StoredUser;
  /** The step that a new sign-in interrupted. */
  step: Step | null;
  onNewPassword: () => void;
}

/** The sign-in methods of this account and their changes. */
export function SignInMethods({ user, step, onNewPassword }: SignInMethodsProps) {
  const { data, failure, reload, put } = useLoad(user.id, loadMethods);
  const change = (methods: Methods): void => {
    keepMethods(methods);
    put(methods);
  };
  return (
    <Card title="Sign-in methods">
      {data === null ? (
        failure ? (
          <Failure failure={failure} onRetry={reload} />
        ) : (
          <Loading />
        )
      ) : (
        <Items label="Sign-in methods">
          <PasswordItem
            user={user}
            methods={data}
            isOpen={step === "password"}
            onSet={() => {
              change({ ...data, hasPassword: true });
              onNewPassword();
            }}
          />
          <Item title={<>Mailed link {<Badge tone="good">Always available</Badge>}</>}>
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
  /** Whether the dialog is open initially. */
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
          {hasPassword ? "Change password" : "Set a password"}
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
