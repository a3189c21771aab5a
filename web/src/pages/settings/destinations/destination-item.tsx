import { useState } from "preact/hooks";
import { useAction } from "../../../lib/action.ts";
import { reasonAgainst } from "../../../model/roles.ts";
import type { Destination, DestinationAnswer, Role } from "../../../model/types.ts";
import { authorized } from "../../../session/session.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { Item } from "../../../ui/items.tsx";
import { LocalOutbox } from "../../../ui/local-outbox.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Time } from "../../../ui/time.tsx";
import { toast } from "../../../ui/toasts.tsx";
import css from "./destinations.module.css";
import { answerInWords, KINDS, pausedBecause } from "./kinds.ts";

interface DestinationItemProps {
  /** The list of the alerts that name it. */
  alertsLink: string;
  path: string;
  destination: Destination;
  role: Role;
  onChanged: () => void;
  onEdit: () => void;
  onRotate: () => void;
  onDelete: () => void;
}

export function DestinationItem({ path, alertsLink, destination, role, ...calls }: DestinationItemProps) {
  const { onChanged, onEdit, onRotate, onDelete } = calls;
  const { id, kind, name, url, email, canary, enabled, version, lastDeliveredAt, lastFailedAt } = destination;
  const { disabledReason, previousSecretUntil } = destination;
  const isUnconfirmed = disabledReason === "unconfirmed";
  const [answer, setAnswer] = useState<(DestinationAnswer & { delivered: boolean }) | null>(null);
  const one = `${path}/${id}`;
  const testing = useAction(async () => {
    setAnswer((await authorized<DestinationAnswer & { delivered: boolean }>(`${one}/test`, { method: "POST" })).data);
    onChanged();
  });
  const changing = useAction(async () => {
    await authorized(one, { method: "PATCH", body: { version, enabled: !enabled } });
    toast(enabled ? `${name} is paused.` : `${name} is enabled.`);
    onChanged();
  });
  const confirming = useAction(async () => {
    await authorized(`${one}/confirmation`, { method: "POST" });
    toast(`Sent another mail to ${email}.`);
  });
  const paused = pausedBecause(destination);
  const mayTest = reasonAgainst(role, "destination.test") === null;
  const mayChange = reasonAgainst(role, "destination.create") === null;
  return (
    <Item
      title={
        <>
          {name}
          <Badge>{KINDS[kind].label}</Badge>
          {canary ? <Badge tone="good">Canary</Badge> : null}
          {paused === null ? null : <Badge tone="warn">{paused}</Badge>}
        </>
      }
      facts={[
        url === null ? null : ["URL", url],
        email === null ? null : ["Address", email],
        previousSecretUntil === null ? null : ["Secret before valid until", <Time at={previousSecretUntil} />],
        ["Last delivered", lastDeliveredAt === null ? "Never" : <Time at={lastDeliveredAt} />],
        lastFailedAt === null ? null : ["Last failed", <Time at={lastFailedAt} />],
        [
          "Used by",
          <a key="alerts" href={alertsLink}>
            alerts<span class="visually-hidden"> of {name}</span>
          </a>,
        ],
      ]}
      actions={
        <>
          <Button small busy={testing.busy} disabled={!mayTest} onClick={() => void testing.run()}>
            Test<span class="visually-hidden"> {name}</span>
          </Button>
          <Button small disabled={!mayChange} onClick={onEdit}>
            Edit<span class="visually-hidden"> {name}</span>
          </Button>
          {kind === "webhook" ? (
            <Button small disabled={!mayChange} onClick={onRotate}>
              Rotate<span class="visually-hidden"> secret of {name}</span>
            </Button>
          ) : null}
          {isUnconfirmed ? (
            <Button small busy={confirming.busy} disabled={!mayChange} onClick={() => void confirming.run()}>
              Send again<span class="visually-hidden"> to {email}</span>
            </Button>
          ) : (
            <Button small busy={changing.busy} disabled={!mayChange} onClick={() => void changing.run()}>
              {enabled ? "Pause" : "Enable"}
              <span class="visually-hidden"> {name}</span>
            </Button>
          )}
          <Button small look="danger" disabled={!mayChange} onClick={onDelete}>
            Delete<span class="visually-hidden"> {name}</span>
          </Button>
        </>
      }
    >
      {isUnconfirmed ? (
        <>
          <p>A mail asks for the confirmation that notifications may come to this address.</p>
          <LocalOutbox />
        </>
      ) : null}
      <Problem failure={testing.failure ?? changing.failure ?? confirming.failure} />
      {answer === null ? null : (
        <div role="status">
          <p>
            <Badge tone={answer.delivered ? "good" : "bad"}>{answer.delivered ? "Delivered" : "Failed"}</Badge>{" "}
            {answerInWords(answer)}
          </p>
          {answer.text === "" ? null : <pre class={css.answer}>{answer.text}</pre>}
        </div>
      )}
    </Item>
  );
}
