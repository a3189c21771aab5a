import { useState } from "preact/hooks";
import { request } from "../../api/request.ts";
import { useAction } from "../../lib/action.ts";
import { useWait } from "../../lib/countdown.ts";
import { Button } from "../../ui/button.tsx";
import { Card, Row } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { FailedOutcome, isInvalidLink, mailedLinkPage } from "./mailed-link.tsx";
import { Outcome } from "./parts.tsx";

interface Address {
  workspace: string;
  destination: string;
  email: string;
  state: "unconfirmed" | "confirmed" | "stopped";
}

/** Confirms that notifications may be mailed to an address, or stops them. The address needs no account. */
export const MailedAddress = mailedLinkPage("/auth/address", "Notifications by e-mail", ({ token }) => {
  const [address, setAddress] = useState<Address | null>(null);
  const ask = async (action: "open" | "confirm" | "stop") => {
    setAddress((await request<Address>(`/destinations/${action}`, { body: { token } })).data);
  };
  const opening = useAction(() => ask("open"));
  const confirming = useAction(() => ask("confirm"));
  const stopping = useAction(() => ask("stop"));
  const failure = opening.failure ?? confirming.failure ?? stopping.failure;
  const wait = useWait(failure);
  if (isInvalidLink(failure)) {
    return (
      <FailedOutcome title="This link does not work" to="/login" action="Go to the sign-in page">
        {failure?.message ?? ""}
      </FailedOutcome>
    );
  }
  if (address === null) {
    return (
      <Card>
        <p>This link is about alerts that are mailed to your address.</p>
        <Row>
          <Button look="primary" busy={opening.busy} disabled={wait > 0} onClick={() => opening.run()}>
            Show
          </Button>
        </Row>
        <Problem failure={opening.failure} />
      </Card>
    );
  }
  const { workspace, destination, email, state } = address;
  if (state === "stopped") {
    return (
      <Outcome title="Mails stopped">
        <p>
          No further alerts of the workspace “{workspace}” are mailed to {email}. You can close this page.
        </p>
      </Outcome>
    );
  }
  return (
    <Card>
      <p>
        {state === "confirmed" ? "Alerts of the workspace" : "May alerts of the workspace"} “{workspace}” ({destination}
        ) {state === "confirmed" ? "are" : "be"} mailed to <strong>{email}</strong>
        {state === "confirmed" ? "." : "?"}
      </p>
      <Row>
        {state === "unconfirmed" && (
          <Button look="primary" busy={confirming.busy} disabled={wait > 0} onClick={() => confirming.run()}>
            Confirm
          </Button>
        )}
        <Button busy={stopping.busy} disabled={wait > 0} onClick={() => stopping.run()}>
          {state === "confirmed" ? "Stop mails" : "Refuse"}
        </Button>
      </Row>
      <Problem failure={confirming.failure ?? stopping.failure} />
    </Card>
  );
});
