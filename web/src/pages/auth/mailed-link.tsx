import type { ComponentChildren, FunctionComponent } from "preact";
import { useEffect } from "preact/hooks";
import type { ApiFailure } from "../../api/failure.ts";
import { clearLinkParameters, type LinkPage, linkParametersOf } from "../../session/link-parameters.ts";
import { Page } from "../../ui/page.tsx";
import { ContinueLink, Outcome } from "./parts.tsx";

/** Error codes after which a mailed link can no longer be used. */
const INVALID_LINK_CODES = new Set(["INVALID_TOKEN", "TOKEN_EXPIRED"]);

export function isInvalidLink(failure: ApiFailure | null): boolean {
  return failure !== null && INVALID_LINK_CODES.has(failure.code);
}

/** Creates the page of a mailed link. A second link opened in the same tab remounts the page. */
export function mailedLinkPage(
  path: LinkPage,
  title: string,
  Form: FunctionComponent<{ token: string }>,
): FunctionComponent {
  return () => {
    const { token } = linkParametersOf(path);
    useEffect(() => () => clearLinkParameters(path), []);
    return (
      <Page title={title} narrow>
        {token === undefined ? (
          <FailedOutcome title="This link is incomplete" to="/login" action="Go to the sign-in page">
            Open the complete link from the e-mail again. Reloading this page also loses it.
          </FailedOutcome>
        ) : (
          <Form key={token} token={token} />
        )}
      </Page>
    );
  };
}

interface FailedOutcomeProps {
  title: string;
  to: string;
  action: string;
  children: ComponentChildren;
}

/** A link that no longer works, with a way to continue. */
export function FailedOutcome({ title, to, action, children }: FailedOutcomeProps) {
  return (
    <Outcome title={title}>
      <p>{children}</p>
      <div>
        <ContinueLink to={to} plain>
          {action}
        </ContinueLink>
      </div>
    </Outcome>
  );
}
