import { SYSTEM } from "../../../../../src/workspace/audit-actions.ts";
import { visible } from "../../../lib/visible.ts";
import type { AuditItem } from "../../../model/types.ts";
import { clientIpText } from "../../../ui/client-ip.ts";
import { Item, Items } from "../../../ui/items.tsx";
import { Time } from "../../../ui/time.tsx";
import css from "./audit.module.css";
import { actionInWords, differences, kindBeside } from "./words.ts";

interface AuditListProps {
  items: readonly AuditItem[];
  /** Of targets, by id. */
  names: ReadonlyMap<string, string>;
}

export function AuditList({ items, names }: AuditListProps) {
  return (
    <div class={css.list}>
      <Items label="Audit, newest first" inColumns>
        {items.map((item) => (
          <Item
            key={item.id}
            title={
              <>
                {actionInWords(item.action)} <Target item={item} name={names.get(item.target)} />
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
            <Changes item={item} shownName={item.targetEmail ?? names.get(item.target)} />
          </Item>
        ))}
      </Items>
    </div>
  );
}

function whoDid({ actor, actorEmail }: AuditItem): string {
  if (actor === SYSTEM) return "System";
  return actorEmail ?? actor;
}

function Target({ item: { action, target, targetEmail }, name }: { item: AuditItem; name: string | undefined }) {
  const shown = targetEmail ?? name ?? kindBeside(action, target);
  return (
    <span class={css.target}>
      {shown === null ? null : `${visible(shown)} `}
      <code class={css.id}>{target}</code>
    </span>
  );
}

/** What changed, without a name that the title has. */
function Changes({ item, shownName }: { item: AuditItem; shownName: string | undefined }) {
  const changes = differences(item).filter(
    ({ name, before, after }) =>
      (name !== "name" && name !== "e-mail") || (before !== null && after !== null) || (before ?? after) !== shownName,
  );
  if (changes.length === 0) return null;
  return (
    <ul class={css.changes}>
      {changes.map(({ name, before, after }) => (
        <li key={name}>
          {before !== null && before === after ? (
            `${name} changed`
          ) : (
            <>
              {name}: {before === null ? null : after === null ? shown(before) : <del>{shown(before)}</del>}
              {before !== null && after !== null ? " → " : null}
              {after === null ? null : shown(after)}
            </>
          )}
        </li>
      ))}
    </ul>
  );
}

/** An ID is written as elsewhere, other values as they are. */
function shown(value: string) {
  return /^[a-z]+_[A-Za-z0-9]{12}$/.test(value) ? <code class={css.id}>{value}</code> : value;
}
