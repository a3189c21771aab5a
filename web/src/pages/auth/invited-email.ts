import { useEffect } from "preact/hooks";
import { openInvitation } from "../../model/invitation.ts";
import { keptInvitation } from "./invitation-token.ts";

/**
 * Fills an empty e-mail field with the invited address while the user is accepting an invitation. Ignores an invitation
 * that cannot be opened: its page reports that.
 */
export function useInvitedEmail(next: string, setEmail: (change: (typed: string) => string) => void): void {
  useEffect(() => {
    const token = next === "/auth/invitation" ? keptInvitation() : null;
    if (token === null) return;
    const controller = new AbortController();
    openInvitation(token, controller.signal).then(
      ({ email }) => {
        selectInFocusedField(email);
        setEmail((typed) => (typed === "" ? email : typed));
      },
      () => undefined,
    );
    return () => controller.abort();
  }, [next]);
}

/** Fills an empty field that has the focus with selected text: what the user starts to type replaces it. */
function selectInFocusedField(email: string): void {
  const field = document.activeElement;
  if (!(field instanceof HTMLInputElement) || field.name !== "email" || field.value !== "") return;
  field.value = email;
  field.select();
}
