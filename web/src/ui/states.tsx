import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type ApiFailure, isOutage, OFFLINE, retryText } from "../api/failure.ts";
import { useWait } from "../lib/countdown.ts";
import { clock } from "../lib/now.ts";
import { Button } from "./button.tsx";
import css from "./states.module.css";

/** Milliseconds before a wait is worth a word: what is faster would only flicker. */
const QUIET_MS = 200;

/** Nothing here yet: says what to do about it. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class={css.state}>
      <h3>{title}</h3>
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

interface FailureProps {
  failure: ApiFailure;
  onRetry?: (() => void) | undefined;
  /** Whether the page repeats the call after an outage without being asked: what `useLoad` loads, not what a user does. */
  isRepeated?: boolean;
}

/** What went wrong and what helps. A limit that is used up counts down to when the call fits again. */
export function Failure({ failure, onRetry, isRepeated = onRetry !== undefined }: FailureProps) {
  const left = useWait(failure);
  if (failure.status === 429) {
    return (
      <div class={`${css.state} ${css.limited}`}>
        <div role="alert">
          <h3>Too many requests</h3>
        </div>
        {/* Not within the alert: a screen reader would read out every second. */}
        <p role="timer">
          {failure.limit?.remaining === 0 ? `The limit here is ${requests(failure.limit.limit)}. ` : ""}
          {left > 0 ? `The next one fits in ${waitOf(left)}.` : "The next one fits now."}
        </p>
        {onRetry ? (
          <Button disabled={left > 0} onClick={onRetry}>
            Try again
          </Button>
        ) : null}
      </div>
    );
  }
  const isTrying = isRepeated && isOutage(failure);
  const advice = failure.code === OFFLINE ? " Check the connection and try again." : "";
  return (
    <div class={`${css.state} ${css.failure}`} role="alert">
      <p>{isTrying ? retryText(failure.message) : `${failure.message}${advice}`}</p>
      {failure.details.length > 0 ? (
        <ul>
          {failure.details.map(({ path, message }) => (
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
      {onRetry ? <Button onClick={onRetry}>{isTrying ? "Try now" : "Try again"}</Button> : null}
    </div>
  );
}

function requests(count: number): string {
  return `${count.toLocaleString()} ${count === 1 ? "request" : "requests"}`;
}

/** Seconds up to which a wait is told in seconds. */
const SHORT_WAIT = 120;

function waitOf(seconds: number): string {
  return seconds <= SHORT_WAIT ? `${seconds} s` : clock(seconds * 1000);
}
