import { MailCheck } from "lucide";
import { useState } from "preact/hooks";
import { authorized, user } from "../../session/session.ts";
import { Icon } from "../../ui/icon.tsx";
import { useLocalOutbox } from "../../ui/local-outbox.tsx";
import { Problem } from "../../ui/problem.tsx";
import css from "./confirmation.module.css";
import { SendAgain, SendAgainButton, useSendAgain } from "./send-again.tsx";

/** Local epoch milliseconds at which the mail of the sign-up in this tab was sent; `null` in other tabs. */
let sentAt: number | null = null;

/** Call after an account is made, whose mail is sent with it. */
export function confirmationWasSent(): void {
  sentAt = Date.now();
}

async function resend(): Promise<void> {
  await authorized("/auth/verify-email/resend", { method: "POST" });
  sentAt = Date.now();
}

/** Requests another mail to confirm the signed-in user's address. */
export function ResendConfirmation() {
  return <SendAgain label="Send me a link" sentAt={null} send={resend} />;
}

/**
 * Asks to confirm the signed-in user's address above a page that does not need it. Says so once it is confirmed, also in
 * another tab.
 */
export function ConfirmationNotice() {
  const [wasOpen] = useState(user.peek()?.emailVerified === false);
  const account = user.value;
  if (account === null || !wasOpen) return null;
  const isConfirmed = account.emailVerified !== false;
  return (
    <div>
      {/* There before its text, which is not announced otherwise. */}
      <div role="status">
        {isConfirmed ? (
          <div class={css.notice} data-confirmed>
            <Icon shape={MailCheck} />
            <b>Address confirmed</b>
          </div>
        ) : null}
      </div>
      {isConfirmed ? null : <OpenConfirmation email={account.email} />}
    </div>
  );
}

function OpenConfirmation({ email }: { email: string }) {
  const isLocal = useLocalOutbox();
  const again = useSendAgain(resend, sentAt);
  return (
    <section class={css.notice} aria-label="E-mail address">
      <div class={css.text}>
        <p>
          <b>Confirm your e-mail address.</b> Open the link sent to <strong>{email}</strong>. Shared workspaces,
          invitations and provider sign-in require it.
        </p>
        <p class={css.quiet} role="status">
          {again.count > 0 ? "Requested. No e-mail? Check your spam folder." : ""}
        </p>
        <Problem failure={again.failure} />
      </div>
      <div class={css.actions}>
        {isLocal ? (
          // The key of the start page is kept on this way.
          <a href="/dev/outbox" data-leaves-freely>
            Open outbox
          </a>
        ) : null}
        <SendAgainButton again={again} small />
      </div>
    </section>
  );
}
