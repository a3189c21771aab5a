import { useEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { user } from "../../session/session.ts";
import { Page } from "../../ui/page.tsx";
import css from "./account.module.css";
import { Activity } from "./activity.tsx";
import { Agents } from "./agents.tsx";
import { DeleteAccount } from "./delete-account.tsx";
import { Profile } from "./profile.tsx";
import { Sessions } from "./sessions.tsx";
import { SignInMethods } from "./sign-in-methods.tsx";
import { isStep, type Step } from "./steps.ts";

/**
 * The account of the signed-in user. Its calls count against the limit of 5 a minute on `/auth`: opening the page makes
 * at most two, and a change made here is not loaded again.
 */
export function Account() {
  const account = user.value;
  const [passwords, setPasswords] = useState(0);
  const step = useStep();
  return account === null ? null : (
    <Page title="Account">
      <Profile user={account} />
      <SignInMethods user={account} step={step} onNewPassword={() => setPasswords(passwords + 1)} />
      {/* A new password has ended the other sessions: the list is collapsed again. */}
      <Sessions key={passwords} />
      <Agents userId={account.id} />
      <Activity />
      <p class={css.quiet}>
        Noticed something unusual? <a href="/auth/review">Review your account</a> to see and undo recent additions.
      </p>
      <DeleteAccount user={account} isOpen={step === "delete"} />
    </Page>
  );
}

/** Returns the step to continue with and removes it from the address, so that a reload does not repeat it. */
function useStep(): Step | null {
  const { query, route } = useLocation();
  const [step] = useState(() => (isStep(query.step) ? query.step : null));
  useEffect(() => {
    if (step !== null) route("/auth/account", true);
  }, []);
  return step;
}
