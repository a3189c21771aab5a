import { useLocation } from "preact-iso";
import { Button, buttonClass } from "../../../ui/button.tsx";
import { SESSION_ENDED } from "../tail/protocol.ts";
import { number } from "../view/format.ts";
import css from "./live-bar.module.css";
import type { Live } from "./use-live.ts";

interface LiveBarProps {
  live: Live;
  /** New entries above the loaded ones. */
  fresh: number;
  onStop: () => void;
}

/** State of the live view, with buttons to pause and stop it. */
export function LiveBar({ live, fresh, onStop }: LiveBarProps) {
  const { tail, dropped } = live;
  const { state, reason, buffered } = tail;
  const isPaused = state === "paused";
  return (
    <div class={css.bar}>
      <span class={`${css.dot} ${state === "live" ? css.on : ""}`} />
      <p class={css.text} role="status">
        {textOf(state, reason, buffered)}
      </p>
      {fresh > 0 ? (
        <span class={css.quiet}>
          {number(fresh)} new{dropped > 0 ? `, ${number(dropped)} older dropped` : ""}
        </span>
      ) : null}
      {state === "ended" && reason === SESSION_ENDED ? (
        <SignIn onAsk={tail.reconnect} />
      ) : state === "ended" ? (
        <Button small onClick={tail.reconnect}>
          Reconnect
        </Button>
      ) : (
        <Button
          small
          disabled={state === "off" || state === "connecting"}
          onClick={isPaused ? tail.resume : tail.pause}
        >
          {isPaused ? "Resume" : "Pause"}
        </Button>
      )}
      <Button small look="quiet" onClick={onStop}>
        Stop following
      </Button>
    </div>
  );
}

/** Asks the service first: if the session has ended, that call leads the whole page to the sign-in. */
function SignIn({ onAsk }: { onAsk: () => void }) {
  const { url } = useLocation();
  return (
    <a
      class={buttonClass("plain", true)}
      href={`/login?next=${encodeURIComponent(url)}`}
      onClick={(event) => {
        event.preventDefault();
        event.stopPropagation();
        onAsk();
      }}
    >
      Sign in
    </a>
  );
}

function textOf(state: Live["tail"]["state"], reason: string | null, buffered: number): string {
  switch (state) {
    case "off":
    case "connecting":
      return reason ?? "Connecting …";
    case "catching-up":
      return "Catching up …";
    case "live":
      return "Live";
    case "paused":
      return buffered === 0 ? "Paused" : `Paused, ${number(buffered)} new`;
    case "ended":
      return `Ended. ${reason ?? ""}`;
  }
}
