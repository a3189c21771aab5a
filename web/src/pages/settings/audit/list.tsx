import { SYSTEM } from "../../../../../src/workspace/audit-actions.ts";
import type { AuditItem } from "../../../model/types.ts";
import { clientIpText } from "../../../ui/client-ip.ts";
import { Item, Items } from "../../../ui/items.tsx";
import { Time } from "../../../ui/time.tsx";
import css from "./audit.module.css";
import { actionInWords, differences } from "./words.ts";

export function AuditList({ items }: { items: readonly AuditItem[] }) {
  return (
    <Items label="Audit, newest first">
      {items.map((item) => (
        <Item
          key={item.id}
          title={
            <>
              {actionInWords(item.action)} <Target item={item} />
            </>
          }
          facts={[
            ["Actor", whoDid(item)],
            ["When", <Time key="at" at={item.at} />],
            item.address === null ? null : ["IP address", clientIpText(item.address)],
            [
              "Request",
              <code key="request" class={css.id}>
                {item.requestId}
              </code>,
            ],
          ]}
        >
          <Changes item={item} />
        </Item>
      ))}
    </Items>
  );
}

function whoDid({ actor, actorEmail }: AuditItem): string {
  if (actor === SYSTEM) return "System";
  return actorEmail ?? actor;
}

function Target({ item: { target, targetEmail } }: { item: AuditItem }) {
  return (
    <span class={css.target}>
      {targetEmail === null ? null : `${targetEmail} `}
      <code class={css.id}>{target}</code>
    </span>
  );
}

function Changes({ item }: { item: AuditItem }) {
  const changes = differences(item);
  if (changes.length === 0) return null;
  return (
    <ul class={css.changes}>
      {changes.map(({ name, before, after }) => (
        <li key={name}>
          {name}: {before === null ? null : after === null ? before : <del>{before}</del>}
          {before !== null && after !== null ? " → " : null}
          {after}
        </li>
      ))}
    </ul>
  );
}
