import type { ApiFailure } from "../api/failure.ts";
import css from "./states.module.css";
import { Failure } from "./states.tsx";

interface ProblemProps {
  failure: ApiFailure | null;
  /** Fields that show their own errors. A failure about these fields only is not shown again. */
  fields?: readonly string[];
}

/** Explains why an action was refused, beside the control that started it. */
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
        Shared workspaces and invitations require a confirmed address.{" "}
        <a href="/auth/account">Get a confirmation link</a>
      </p>
    </div>
  );
}
