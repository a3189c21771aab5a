import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { ApiFailure } from "../../api/failure.ts";
import { useAction } from "../../lib/action.ts";
import { useSecondsUntil, useWait } from "../../lib/countdown.ts";
import { Button } from "../../ui/button.tsx";
import { LocalOutbox } from "../../ui/local-outbox.tsx";
import { Row } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import css from "./auth.module.css";

/** Milliseconds between two mails of a kind to an address. The service silently drops earlier requests. */
const BETWEEN_MAILS_MS = 60_000;

interface Again {
  run: () => void;
  busy: boolean;
  failure: ApiFailure | null;
  /** Seconds until the service would send another mail. */
  left: number;
  /** Mails requested so far. */
  count: number;
}

/**
 * Requests a mail again, as soon as the service would send another one.
 * @param sentAt local epoch milliseconds of the previous mail; `null` if unknown
 */
export function useSendAgain(send: () => Promise<void>, sentAt: number | null): Again {
  const [lastAt, setLastAt] = useState(sentAt);
  const [count, setCount] = useState(0);
  const { run, busy, failure } = useAction(async () => {
    await send();
    setLastAt(Date.now());
    setCount((before) => before + 1);
  });
  const wait = useWait(failure);
  const left = Math.max(wait, useSecondsUntil(lastAt === null ? null : lastAt + BETWEEN_MAILS_MS));
  return { run: () => void run(), busy, failure, left, count };
}

interface SendAgainButtonProps {
  again: Again;
  label?: string;
  small?: boolean;
}

export function SendAgainButton({ again, label = "Send again", small = false }: SendAgainButtonProps) {
  return (
    <Button small={small} onClick={again.run} busy={again.busy} disabled={again.left > 0}>
      {again.left > 0 ? `${label} (in ${again.left} s)` : label}
    </Button>
  );
}

interface SendAgainProps {
  /** Requests the mail again. */
  send: () => Promise<void>;
  /** Local epoch milliseconds of the previous mail; `null` if unknown. */
  sentAt: number | null;
  label?: string;
  children?: ComponentChildren;
}

/** Button that requests a mail again, with what to do if none comes. */
export function SendAgain({ send, sentAt, label = "Send it again", children }: SendAgainProps) {
  const again = useSendAgain(send, sentAt);
  return (
    <>
      <Row>
        <SendAgainButton again={again} label={label} />
        {children}
      </Row>
      <p class={css.quiet} role="status">
        {again.count > 0 ? "Requested. " : ""}
        No e-mail? Check your spam folder. We send at most five an hour to an address.
      </p>
      <Problem failure={again.failure} />
      <LocalOutbox />
    </>
  );
}
