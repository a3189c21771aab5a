import { useEffect } from "preact/hooks";
import { openInvitation } from "../../model/invitation.ts";
import { keptInvitation } from "./invitation-token.ts";

/**
 * Puts the invited address into the form of a person on the way to accept an invitation, unless one was typed already. An
 * invitation that cannot be opened is left to its own page.
 */
export function useInvitedEmail(next: string, setEmail: (change: (typed: string) => string) => void): void {
  useEffect(() => {
    const token = next === "/auth/invitation" ? keptInvitation() : null;
    if (token === null) return;
    const controller = new AbortController();
    openInvitation(token, controller.signal).then(
      ({ email }) => setEmail((typed) => (typed === "" ? email : typed)),
      () => undefined,
    );
    return () => controller.abort();
  }, [next]);
}
