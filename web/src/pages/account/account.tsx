import { useState } from "preact/hooks";
import { user } from "../../session/session.ts";
import { Page } from "../../ui/page.tsx";
import { DeleteAccount } from "./delete-account.tsx";
import { WaysIn } from "./methods.tsx";
import { Profile } from "./profile.tsx";
import { Sessions } from "./sessions.tsx";

/**
 * The account of whoever is signed in. Its calls count against the five a minute of /auth: on opening the page makes two at
 * most, and what is changed here is not asked for again.
 */
export function Account() {
  const account = user.value;
  const [passwords, setPasswords] = useState(0);
  return account === null ? null : (
    <Page title="Account">
      <Profile user={account} />
      <WaysIn user={account} onNewPassword={() => setPasswords(passwords + 1)} />
      {/* A new password has ended the others: the list begins anew. */}
      <Sessions key={passwords} />
      <DeleteAccount user={account} />
    </Page>
  );
}
