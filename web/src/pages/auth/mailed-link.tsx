import type { ComponentChildren, FunctionComponent } from "preact";
import { useEffect } from "preact/hooks";
import type { ApiFailure } from "../../api/failure.ts";
import { forgetGivenTo, type GivenPage, givenTo } from "../../session/address.ts";
import { Page } from "../../ui/page.tsx";
import { GoOn, Outcome } from "./parts.tsx";

/** Refusals after which a mailed link is of no more use. */
const DEAD = new Set(["INVALID_TOKEN", "TOKEN_EXPIRED"]);

export function isDead(failure: ApiFailure | null): boolean {
  return failure !== null && DEAD.has(failure.code);
}

/** The page of a mailed link. A second link that is opened in the same tab begins it anew. */
export function mailedLinkPage(
  path: GivenPage,
  title: string,
  Form: FunctionComponent<{ token: string }>,
): FunctionComponent {
  return () => {
    const { token } = givenTo(path);
    useEffect(() => () => forgetGivenTo(path), []);
    return (
      <Page title={title} narrow>
        {token === undefined ? (
          <DeadEnd title="This link is incomplete" to="/login" action="Go to the sign-in page">
            Open it from the mail again, or copy all of it. A page that was loaded anew has forgotten it, too.
          </DeadEnd>
        ) : (
          <Form key={token} token={token} />
        )}
      </Page>
    );
  };
}

interface DeadEndProps {
  title: string;
  to: string;
  action: string;
  children: ComponentChildren;
}

/** A link that does not work any more, and where to get one that does. */
export function DeadEnd({ title, to, action, children }: DeadEndProps) {
  return (
    <Outcome title={title}>
      <p>{children}</p>
      <div>
        <GoOn to={to} plain>
          {action}
        </GoOn>
      </div>
    </Outcome>
  );
}
