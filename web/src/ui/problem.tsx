import type { ApiFailure } from "../api/failure.ts";
import css from "./states.module.css";
import { Failure } from "./states.tsx";

interface ProblemProps {
  failure: ApiFailure | null;
  /** Fields that show their own errors: a refusal about nothing else needs no second place. */
  fields?: readonly string[];
}

/** Why an action was refused, beside what started it. */
export function Problem({ failure, fields = [] }: ProblemProps) {
  if (failure === null) return null;
  if (failure.code === "EMAIL_NOT_VERIFIED") return <Unverified />;
  const isShown = failure.details.length > 0 && failure.details.every(({ path }) => fields.includes(path));
  return isShown ? null : <Failure failure={failure} />;
}

function Unverified() {
  return (
    <div class={`${css.state} ${css.limited}`} role="alert">
      <h3>Confirm your e-mail address first</h3>
      <p>
        Shared workspaces and invitations need a confirmed address. We sent you a link when you signed up.{" "}
        <a href="/auth/account">Get a new link on your account page.</a>
      </p>
    </div>
  );
}
