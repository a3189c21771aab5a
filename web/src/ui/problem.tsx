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
  if (failure.code === "EMAIL_NOT_VERIFIED") {
    return (
      <div role="alert">
        <Unverified />
      </div>
    );
  }
  const isShown = failure.details.length > 0 && failure.details.every(({ path }) => fields.includes(path));
  return isShown ? null : <Failure failure={failure} />;
}

/** In place of a form that the service refuses until the user's address is confirmed. */
export function Unverified() {
  return (
    <div class={`${css.state} ${css.limited}`}>
      <h3>Confirm your e-mail address first</h3>
      <p>
        Shared workspaces and invitations require a confirmed address.{" "}
        <a href="/auth/account">Get a confirmation link</a>
      </p>
    </div>
  );
}
