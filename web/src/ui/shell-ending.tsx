import { useSecondsUntil } from "../lib/countdown.ts";
import { ending } from "../session/ending.ts";
import { user } from "../session/session.ts";
import css from "./shell.module.css";

/** Says that a sign-out has not reached the service yet, and when it is told again. */
export function ShellEnding() {
  const notBefore = ending.value?.notBefore ?? null;
  const seconds = useSecondsUntil(notBefore);
  if (notBefore === null) return null;
  const what = user.value === null ? "Signed out here." : "The service has not heard of the sign-out before.";
  return (
    <div class={css.ending} role="status">
      {/* The seconds are for the eye: a screen reader would say each of them. */}
      <span class="visually-hidden">{what} The service will be told in a moment.</span>
      <span aria-hidden="true">
        {what} {seconds > 0 ? `The service will be told in ${seconds} s.` : "The service is being told."}
      </span>
    </div>
  );
}
