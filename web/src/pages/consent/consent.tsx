import { useEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { useLoad } from "../../lib/load.ts";
import { openRequest } from "../../model/grants.ts";
import type { Workspace } from "../../model/types.ts";
import { loadWorkspaces, refreshWorkspaces, workspaces, workspacesFailure } from "../../model/workspaces.ts";
import { withNext } from "../../session/next-path.ts";
import { signOut, user } from "../../session/session.ts";
import { Button } from "../../ui/button.tsx";
import { Facts } from "../../ui/items.tsx";
import { Card, Page, Row } from "../../ui/page.tsx";
import { Failure, Loading } from "../../ui/states.tsx";
import { forgetNext } from "../auth/next.ts";
import { Note, Outcome } from "../auth/parts.tsx";
import css from "./consent.module.css";
import { ConsentForm } from "./consent-form.tsx";

/** Asks the user whether an agent gets access, and to what. Nothing is given without a click. */
export function Consent() {
  const { url } = useLocation();
  // The request as the client made it: the service reads it again when the user consents.
  const request = new URL(url, location.origin).search.slice(1);
  const account = user.value;
  const { data, failure, reload } = useLoad(`${account?.id} ${request}`, (signal) => openRequest(request, signal));
  const [left, setLeft] = useState<string | null>(null);
  useEffect(refreshWorkspaces, []);
  const leave = (to: string, how: string): void => {
    setLeft(how);
    // The link of a sign-up's mail works for a day and would return to a request that is answered.
    forgetNext(url);
    location.assign(to);
  };
  if (account === null) return null;
  const mine = workspaces.value;
  const failed = failure ?? (mine === null ? workspacesFailure.value : null);
  return (
    <Page title="Allow access" narrow>
      {left !== null ? (
        <Outcome title={left}>
          <p>Continue in the program. You can close this page.</p>
        </Outcome>
      ) : data === null || mine === null ? (
        failed ? (
          <Failure failure={failed} onRetry={failure ? reload : () => void loadWorkspaces()} />
        ) : (
          <Loading />
        )
      ) : data.client === null ? (
        <InvalidRequest message={data.message} refuseUrl={data.refuseUrl} onLeave={leave} />
      ) : (
        <Card>
          <p class={css.asks}>
            <strong>
              <bdi>{data.client.name}</bdi>
            </strong>{" "}
            asks for access to your logs.
          </p>
          <Facts
            facts={[
              ...(data.client.host === null ? [] : [["Published by", data.client.host] as const]),
              ["Receives access at", data.client.receiver],
              ["Signed in as", account.email],
            ]}
          />
          {data.client.host === null ? (
            <Note tone="warn">
              <strong>The name is not verified.</strong>
              <span>Allow only what you have just started yourself.</span>
            </Note>
          ) : null}
          <ConsentForm request={request} opened={data} workspaces={choosable(mine)} onLeave={leave} />
          <Row>
            <Button
              look="quiet"
              small
              onClick={async () => {
                await signOut();
                location.assign(withNext("/login", url));
              }}
            >
              Use another account
            </Button>
          </Row>
        </Card>
      )}
    </Page>
  );
}

/** Shared workspaces first: agents of a team read the team's logs. */
function choosable(all: readonly Workspace[]): Workspace[] {
  return all.toSorted((a, b) => Number(a.personal) - Number(b.personal));
}

interface InvalidRequestProps {
  message: string | null;
  refuseUrl: string | null;
  onLeave: (to: string, how: string) => void;
}

function InvalidRequest({ message, refuseUrl, onLeave }: InvalidRequestProps) {
  return (
    <Outcome title="This request does not work">
      <p>{message}</p>
      <p>Start the sign-in again in the program.</p>
      {refuseUrl === null ? null : (
        <Row>
          <Button onClick={() => onLeave(refuseUrl, "Not allowed")}>Back to the program</Button>
        </Row>
      )}
    </Outcome>
  );
}
