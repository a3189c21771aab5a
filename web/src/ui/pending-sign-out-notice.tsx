import { useSecondsUntil } from "../lib/countdown.ts";
import { pendingSignOut } from "../session/pending-sign-out.ts";
import { user } from "../session/session.ts";
import css from "./shell.module.css";

/** Shows that a sign-out has not reached the service yet, with the time of the next attempt. */
export function PendingSignOutNotice() {
  const notBefore = pendingSignOut.value?.notBefore ?? null;
  const seconds = useSecondsUntil(notBefore);
  if (notBefore === null) return null;
  const what = user.value === null ? "Signed out in this browser." : "The previous sign-out is pending.";
  return (
    <div class={css.notice} role="status">
      {/* The countdown is hidden from screen readers, which would announce every second. */}
      <span class="visually-hidden">{what} Retrying soon.</span>
      <span aria-hidden="true">
        {what} {seconds > 0 ? `Retrying in ${seconds} s.` : "Retrying."}
      </span>
    </div>
  );
}
