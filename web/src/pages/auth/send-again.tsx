import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useAction } from "../../lib/action.ts";
import { useSecondsUntil, useWait } from "../../lib/countdown.ts";
import { Button } from "../../ui/button.tsx";
import { LocalOutbox } from "../../ui/local-outbox.tsx";
import { Row } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import css from "./auth.module.css";

/** Milliseconds between two mails of a kind to an address. The service silently drops earlier requests. */
const BETWEEN_MAILS_MS = 60_000;

interface SendAgainProps {
  /** Requests the mail again. */
  send: () => Promise<void>;
  /** Local epoch milliseconds of the previous mail; `null` if unknown. */
  sentAt: number | null;
  label?: string;
  children?: ComponentChildren;
}

/** Button that requests a mail again, as soon as the service would send another one. */
export function SendAgain({ send, sentAt, label = "Send it again", children }: SendAgainProps) {
  const [lastAt, setLastAt] = useState(sentAt);
  const [count, setCount] = useState(0);
  const sending = useAction(async () => {
    await send();
    setLastAt(Date.now());
    setCount((before) => before + 1);
  });
  const wait = useWait(sending.failure);
  const left = Math.max(wait, useSecondsUntil(lastAt === null ? null : lastAt + BETWEEN_MAILS_MS));
  return (
    <>
      <Row>
        <Button onClick={() => sending.run()} busy={sending.busy} disabled={left > 0}>
          {left > 0 ? `${label} (in ${left} s)` : label}
        </Button>
        {children}
      </Row>
      <p class={css.quiet} role="status">
        {count > 0 ? "Requested. " : ""}
        No e-mail? Check your spam folder. We send at most five an hour to an address.
      </p>
      <Problem failure={sending.failure} />
      <LocalOutbox />
    </>
  );
}
