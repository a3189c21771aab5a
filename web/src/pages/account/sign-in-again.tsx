import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { request } from "../../api/request.ts";
import { useAction } from "../../lib/action.ts";
import { useWait } from "../../lib/countdown.ts";
import type { Methods } from "../../model/account.ts";
import type { StoredUser } from "../../session/storage.ts";
import { Button } from "../../ui/button.tsx";
import { Row } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { rememberNext } from "../auth/next.ts";
import { PROVIDER_LABELS, signInWith } from "../auth/providers.ts";
import { SendAgain } from "../auth/send-again.tsx";
import css from "./account.module.css";

interface SignInAgainProps {
  user: StoredUser;
  methods: Methods;
  next: string;
  children: ComponentChildren;
}

/** Sign-in methods that need no password. */
export function SignInAgain({ user, methods, next, children }: SignInAgainProps) {
  const [sentAt, setSentAt] = useState<number | null>(null);
  const { email } = user;
  const send = async (): Promise<void> => {
    await request("/auth/magic-link", { body: { email } });
    // The link opens another tab, which continues with the page of this one.
    rememberNext(next);
  };
  const mailing = useAction(async () => {
    await send();
    setSentAt(Date.now());
  });
  const wait = useWait(mailing.failure);
  if (sentAt !== null) {
    return (
      <div class="stack">
        <p role="status">
          We sent a sign-in link to <strong>{email}</strong>. Open it in this browser to continue.
        </p>
        <SendAgain send={send} sentAt={sentAt} />
      </div>
    );
  }
  return (
    <div class="stack">
      <p class={css.quiet}>{children}</p>
      <Row>
        <Button busy={mailing.busy} disabled={wait > 0} onClick={() => mailing.run()}>
          Mail me a sign-in link
        </Button>
        {methods.providers.map((provider) => (
          <Button key={provider} onClick={() => signInWith(provider, next)}>
            Continue with {PROVIDER_LABELS[provider].name}
          </Button>
        ))}
      </Row>
      <Problem failure={mailing.failure} />
    </div>
  );
}
