import { useState } from "preact/hooks";
import { useAction } from "../../lib/action.ts";
import { useLoad } from "../../lib/load.ts";
import { usePages } from "../../lib/pages.ts";
import { visible } from "../../lib/visible.ts";
import { reasonAgainst } from "../../model/roles.ts";
import type { Delivery, Destination, Notification, Role, Workspace } from "../../model/types.ts";
import { allOf } from "../../model/workspaces.ts";
import { authorized } from "../../session/session.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { Card } from "../../ui/page.tsx";
import { ScrollBox } from "../../ui/scroll-box.tsx";
import { Select } from "../../ui/select.tsx";
import { ShowOlder } from "../../ui/show-older.tsx";
import { Empty, Failure, Loading } from "../../ui/states.tsx";
import { Time } from "../../ui/time.tsx";
import { toast } from "../../ui/toasts.tsx";
import { answerInWords } from "./destinations/kinds.ts";
import css from "./notifications.module.css";
import { Section } from "./section.tsx";

const PAGE_SIZE = 50;
const STATES = { pending: "Pending", delivered: "Delivered", dead: "Given up" } as const;
const STATE_OPTIONS = [
  { value: "", label: "All" },
  ...Object.entries(STATES).map(([value, label]) => ({ value, label })),
];
const TONES = { pending: "warn", delivered: "good", dead: "bad" } as const;
const KIND_TONES = { firing: { tone: "bad" }, resolved: { tone: "good" }, test: {}, canary: {} } as const;
const KINDS = { firing: "Firing", resolved: "Resolved", test: "Test", canary: "Canary" } as const;

/** Notifications of the last 30 days with their deliveries. */
export function Notifications({ workspace }: { workspace: Workspace }) {
  const [state, setState] = useState("");
  const base = `/workspaces/${workspace.id}`;
  const { items, busy, failure, reload, more } = usePages<Notification>(
    `${workspace.id} ${state}`,
    PAGE_SIZE,
    (query) => {
      query.set("state", state);
      return `${base}/notifications?${query}`;
    },
  );
  const destinations = useLoad(base, (signal) => allOf<Destination>(`${base}/destinations`, undefined, signal));
  const nameOf = (id: string) => destinations.data?.find((each) => each.id === id)?.name ?? id;
  return (
    <Section
      title="Notifications"
      intro="What was sent in the last 30 days, and what the receivers answered."
      actions={
        <Button busy={busy} onClick={reload}>
          Refresh
        </Button>
      }
    >
      <div class={css.filter}>
        <Field label="State">
          {(props) => <Select {...props} value={state} options={STATE_OPTIONS} onChange={setState} />}
        </Field>
      </div>
      {failure ? <Failure failure={failure} onRetry={reload} /> : null}
      {items === null && failure === null ? <Loading /> : null}
      {items?.length === 0 && more === null ? <Empty title="No notifications" /> : null}
      {items !== null && (items.length > 0 || more !== null) ? (
        <Card>
          <ScrollBox label="Notifications, newest first" isStacked>
            <table>
              <thead>
                <tr>
                  <th scope="col">Decided</th>
                  <th scope="col">Notification</th>
                  <th scope="col">Deliveries</th>
                </tr>
              </thead>
              <tbody>
                {items.map((item) => (
                  <tr key={item.id}>
                    <td data-label="Decided" class={css.when}>
                      <Time at={item.decidedAt} />
                    </td>
                    <td data-label="Notification" class={css.what}>
                      <Badge {...KIND_TONES[item.kind]}>{KINDS[item.kind]}</Badge>{" "}
                      {item.projectId !== null && (item.kind === "firing" || item.kind === "resolved") ? (
                        <a href={`/w/${workspace.id}/alerts/${item.projectId}/${item.ruleId}`}>{titleOf(item)}</a>
                      ) : (
                        titleOf(item)
                      )}
                    </td>
                    <td data-label="Deliveries">
                      {item.deliveries.length === 0 ? (
                        <span class={css.none}>No destination, or a deleted one</span>
                      ) : null}
                      {item.deliveries.map((delivery) => (
                        <DeliveryLine
                          key={delivery.id}
                          base={base}
                          delivery={delivery}
                          name={nameOf(delivery.destinationId)}
                          role={workspace.role}
                          onChanged={reload}
                        />
                      ))}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </ScrollBox>
          <ShowOlder more={more} />
        </Card>
      ) : null}
    </Section>
  );
}

/** The title without the kind, which the badge has. */
function titleOf({ kind, title }: Notification): string {
  const start = `${KINDS[kind]}: `;
  return visible(title.startsWith(start) ? title.slice(start.length) : title);
}

interface DeliveryLineProps {
  base: string;
  delivery: Delivery;
  name: string;
  role: Role;
  onChanged: () => void;
}

function DeliveryLine({ base, delivery, name, role, onChanged }: DeliveryLineProps) {
  const { id, state, attempts, answer, nextAttemptAt } = delivery;
  const repeating = useAction(async () => {
    await authorized(`${base}/deliveries/${id}/redeliver`, { method: "POST" });
    toast(`Delivering to ${name} again.`);
    onChanged();
  });
  return (
    <div class={css.delivery}>
      {visible(name)} <Badge tone={TONES[state]}>{STATES[state]}</Badge> {attempts > 1 ? `${attempts} attempts. ` : ""}
      {answer === null ? null : `${answerInWords(answer)}. `}
      {nextAttemptAt === null || attempts === 0 ? null : (
        <>
          Next attempt <Time at={nextAttemptAt} />.{" "}
        </>
      )}
      {state === "dead" && reasonAgainst(role, "delivery.redeliver") === null ? (
        <Button small busy={repeating.busy} onClick={() => void repeating.run()}>
          Redeliver<span class="visually-hidden"> to {name}</span>
        </Button>
      ) : null}
      {repeating.failure ? <p role="alert">{repeating.failure.message}</p> : null}
    </div>
  );
}
