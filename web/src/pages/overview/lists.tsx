import { timeFormat } from "../../lib/zone.ts";
import type { ApiKey, AuditItem, LiveCounter, Notification } from "../../model/types.ts";
import { Badge } from "../../ui/badge.tsx";
import { Item, Items } from "../../ui/items.tsx";
import { Time } from "../../ui/time.tsx";
import { visible } from "../explorer/view/visible.ts";
import { actionInWords } from "../settings/audit/words.ts";
import { useNames } from "../settings/caller-names.ts";
import { type Now, patternQuery } from "./now.ts";
import css from "./overview.module.css";

const COUNT = new Intl.NumberFormat();
const SHORT = timeFormat({ dateStyle: "medium", timeStyle: "short" });
/** Days without use after which a key is listed. */
export const UNUSED_DAYS = 30;
/** Used share from which a limit is listed. */
const CLOSE = 0.8;

/** Warnings and errors of today that did not occur the day before. */
export function Patterns({ patterns: { items, isExact }, base }: { patterns: Now["patterns"]; base: string }) {
  if (items.length === 0) {
    return (
      <p class={css.quiet}>No warning or error of the last 24 hours is new{isExact ? "" : " as far as was read"}.</p>
    );
  }
  return (
    <ul class={css.list}>
      {items.map(({ pattern, count }) => (
        <li key={pattern}>
          <a class={css.pattern} href={`${base}?q=${encodeURIComponent(patternQuery(pattern))}`}>
            {visible(pattern)}
          </a>
          <b class={css.amount}>{COUNT.format(count)}</b>
        </li>
      ))}
    </ul>
  );
}

const KINDS = { firing: "Firing", resolved: "Resolved", test: "Test", canary: "Canary" } as const;
const TONES = { firing: "bad", resolved: "good", test: undefined, canary: undefined } as const;

export function Notices({ items }: { items: readonly Notification[] }) {
  if (items.length === 0) return <p class={css.quiet}>No alert has sent anything in the last 30 days.</p>;
  return (
    <ul class={css.list}>
      {items.map(({ id, kind, title, decidedAt }) => {
        const tone = TONES[kind];
        return (
          <li key={id}>
            <span>
              <Badge {...(tone === undefined ? {} : { tone })}>{KINDS[kind]}</Badge>
              {/* A title begins with its kind. */}
              {visible(title.replace(`${KINDS[kind]}: `, ""))}
            </span>
            <Time at={decidedAt} format={SHORT} />
          </li>
        );
      })}
    </ul>
  );
}

export function Limits({ live, workspaceId }: { live: readonly LiveCounter[]; workspaceId: string }) {
  const close = live
    .map((counter) => ({ ...counter, share: (counter.limit - Math.max(0, counter.remaining)) / counter.limit }))
    .filter(({ share }) => share >= CLOSE)
    .sort((a, b) => b.share - a.share);
  const name = useNames(
    workspaceId,
    close.map(({ identifier }) => identifier),
  );
  if (close.length === 0) {
    return <p class={css.quiet}>No key or member has used {Math.round(CLOSE * 100)} % of a limit in its window.</p>;
  }
  return (
    <ul class={css.list}>
      {close.map(({ identifier, rule, limit, remaining, share }) => (
        <li key={`${identifier} ${rule}`}>
          <span>{name(identifier)}</span>
          <span class={css.amount}>
            {COUNT.format(limit - Math.max(0, remaining))} of {COUNT.format(limit)}
            <Badge tone={share >= 1 ? "bad" : "warn"}>{Math.floor(share * 100)} %</Badge>
          </span>
        </li>
      ))}
    </ul>
  );
}

export function Changes({ items }: { items: readonly AuditItem[] }) {
  if (items.length === 0) return <p class={css.quiet}>No change in the last 365 days.</p>;
  return (
    <ul class={css.list}>
      {items.map(({ id, at, action, actor, actorEmail }) => (
        <li key={id}>
          <span>
            {actionInWords(action)}
            <span class={css.quiet}>{actorEmail ?? actor}</span>
          </span>
          <Time at={at} format={SHORT} />
        </li>
      ))}
    </ul>
  );
}

export function UnusedKeys({ items, hasMore, base }: { items: readonly ApiKey[]; hasMore: boolean; base: string }) {
  if (items.length === 0) return <p class={css.quiet}>Every key was used in the last {UNUSED_DAYS} days.</p>;
  return (
    <>
      <Items label={`Keys without use in ${UNUSED_DAYS} days`}>
        {items.map((key) => (
          <Item
            key={key.id}
            title={
              <>
                <a href={`${base}/settings/keys?project=${key.projectId}`}>{key.name}</a>
                <code>{key.prefix}…</code>
              </>
            }
            facts={[
              ["Last used", key.lastUsedAt === null ? "never" : <Time key="used" at={key.lastUsedAt} format={SHORT} />],
            ]}
          />
        ))}
      </Items>
      {hasMore ? <p class={css.quiet}>There are more.</p> : null}
    </>
  );
}
