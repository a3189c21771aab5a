import { useEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { user } from "../../session/session.ts";
import { Page } from "../../ui/page.tsx";
import css from "./account.module.css";
import { Activity } from "./activity.tsx";
import { DeleteAccount } from "./delete-account.tsx";
import { WaysIn } from "./methods.tsx";
import { Profile } from "./profile.tsx";
import { Sessions } from "./sessions.tsx";
import { isStep, type Step } from "./steps.ts";

/**
 * The account of whoever is signed in. Its calls count against the five a minute of /auth: on opening the page makes two at
 * most, and what is changed here is not asked for again.
 */
export function Account() {
  const account = user.value;
  const [passwords, setPasswords] = useState(0);
  const step = useStep();
  return account === null ? null : (
    <Page title="Account">
      <Profile user={account} />
      <WaysIn user={account} step={step} onNewPassword={() => setPasswords(passwords + 1)} />
      {/* A new password has ended the others: the list begins anew. */}
      <Sessions key={passwords} />
      <Activity />
      <p class={css.quiet}>
        Does something look odd? <a href="/auth/review">Review your account</a>: what was added to it of late, and how
        to take it back.
      </p>
      <DeleteAccount user={account} isOpen={step === "delete"} />
    </Page>
  );
}

/** The step to go on with, which leaves the address at once: loading the page anew is no wish to repeat it. */
function useStep(): Step | null {
  const { query, route } = useLocation();
  const [step] = useState(() => (isStep(query.step) ? query.step : null));
  useEffect(() => {
    if (step !== null) route("/auth/account", true);
  }, []);
  return step;
}
