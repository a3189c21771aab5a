import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type ApiFailure, isOutage, OFFLINE, retryText } from "../api/failure.ts";
import { useWait } from "../lib/countdown.ts";
import { clock } from "../lib/now.ts";
import { timeFormat } from "../lib/zone.ts";
import { Button } from "./button.tsx";
import css from "./states.module.css";

/** Milliseconds before a loading text appears: a shorter one would flicker. */
const QUIET_MS = 200;

/** An empty state with the next step. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class={css.state}>
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export function Loading({ what = "Loading" }: { what?: string }) {
  const [shown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), QUIET_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <p class={css.loading} role="status">
      {shown ? `${what} …` : ""}
    </p>
  );
}

const CLOCK = timeFormat({ hour: "2-digit", minute: "2-digit", second: "2-digit" });

interface FailureProps {
  failure: ApiFailure;
  onRetry?: (() => void) | undefined;
  /** Whether the page retries the call after an outage or a limit, as `useLoad` does; false for user actions. */
  isRepeated?: boolean;
}

/** A failure and what to do about it. A 429 counts down to the next attempt, which a page that retries makes itself. */
export function Failure({ failure, onRetry, isRepeated = onRetry !== undefined }: FailureProps) {
  const left = useWait(failure);
  if (failure.status === 429) {
    return (
      <div class={`${css.state} ${css.limited}`}>
        <div role="alert">
          <h2>Too many requests</h2>
        </div>
        {/* Outside the alert, because a screen reader would announce every second. */}
        <p role="timer">
          {limitText(failure)}
          {left > 0
            ? `${isRepeated ? "Trying" : "Try"} again in ${waitOf(left)}, at ${CLOCK(failure.at + (failure.retryAfter ?? 0) * 1000)}.`
            : isRepeated
              ? "Trying again."
              : "Try again now."}
        </p>
        {onRetry && !isRepeated ? (
          <Button disabled={left > 0} onClick={onRetry}>
            Try again
          </Button>
        ) : null}
      </div>
    );
  }
  const isTrying = isRepeated && isOutage(failure);
  // The service refuses the same request again.
  const isFinal = failure.status === 400;
  // A single detail is often the message itself.
  const details = failure.details.filter(({ message }) => !failure.message.endsWith(message));
  const advice = failure.code === OFFLINE ? " Check the connection and try again." : "";
  return (
    <div class={`${css.state} ${css.failure}`} data-passing={isTrying} role="alert">
      <div class={css.words}>
        <p>{isTrying ? retryText(failure.message) : `${failure.message}${advice}`}</p>
        {details.length > 0 ? (
          <ul>
            {details.map(({ path, message }) => (
              <li key={path}>
                {path === "" ? "" : <code>{path}</code>} {message}
              </li>
            ))}
          </ul>
        ) : null}
        <p class={css.small}>
          {failure.code}
          {failure.requestId === null ? "" : ` · request ${failure.requestId}`}
        </p>
      </div>
      {onRetry && !isFinal ? <Button onClick={onRetry}>{isTrying ? "Try now" : "Try again"}</Button> : null}
    </div>
  );
}

/** The detail of a 429 names the limit, its window and whom it counts. */
function limitText({ details: [limit] }: ApiFailure): string {
  return limit ? `${limit.message} ` : "";
}

/** Seconds up to which a wait is shown in seconds. */
const SHORT_WAIT = 120;

function waitOf(seconds: number): string {
  return seconds <= SHORT_WAIT ? `${seconds} s` : clock(seconds * 1000);
}
