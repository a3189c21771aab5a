import { type Release, releaseName } from "../../charts/releases.ts";
import { visible } from "../../lib/visible.ts";
import { timeFormat } from "../../lib/zone.ts";
import type { Alert } from "../../model/alerts.ts";
import { type AuditItem, ERRORS, type LiveCounter, type Notification } from "../../model/types.ts";
import { Badge } from "../../ui/badge.tsx";
import { Item, Items } from "../../ui/items.tsx";
import { Time } from "../../ui/time.tsx";
import { between, DEFAULT_RANGE } from "../explorer/view/range.ts";
import { toolLink, viewOf } from "../investigate/links.ts";
import { signsOf, useKnownChanges } from "../investigate/releases/known-changes.ts";
import { firstChange } from "../investigate/releases/release-names.ts";
import { offeredSearch, spanAfter } from "../investigate/releases/releases.ts";
import { namesOf } from "../settings/audit/names.ts";
import { actionInWords } from "../settings/audit/words.ts";
import { useNames } from "../settings/caller-names.ts";
import { type KeyUse, UNUSED_DAYS } from "./key-use.ts";
import { HOURS, LISTED, type NewPatterns, patternQuery } from "./now.ts";
import css from "./overview.module.css";

const COUNT = new Intl.NumberFormat();
const SHORT = timeFormat({ dateStyle: "medium", timeStyle: "short" });
/** Used share from which a limit is listed. */
const CLOSE = 0.8;

/** Warnings and errors of today that did not occur the day before. */
export function Patterns({ patterns, base }: { patterns: NewPatterns; base: string }) {
  const { items, isExact, isComparable } = patterns;
  if (!isComparable) return <p class={css.quiet}>The day before has too few entries to tell what is new.</p>;
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

/** Actions of the audit that change nothing. */
const NO_CHANGES: ReadonlySet<string> = new Set(["session.start", "agent.call"]);

/** @param items the newest of the audit */
export function Changes({ items, limit }: { items: readonly AuditItem[]; limit: number }) {
  const names = namesOf(items);
  const changes = items.filter(({ action }) => !NO_CHANGES.has(action)).slice(0, limit);
  if (items.length === 0) return <p class={css.quiet}>No change in the last 365 days.</p>;
  if (changes.length === 0) return <p class={css.quiet}>Only sign-ins and calls of agents lately.</p>;
  return (
    <ul class={css.list}>
      {changes.map(({ id, at, action, actor, actorEmail, target }) => (
        <li key={id}>
          <span>
            {actionInWords(action)} {names.has(target) ? <b>{visible(names.get(target) ?? "")}</b> : null}{" "}
            <span class={css.quiet}>{actorEmail ?? actor}</span>
          </span>
          <Time at={at} format={SHORT} />
        </li>
      ))}
    </ul>
  );
}

interface FiringAlertsProps {
  alerts: readonly Alert[];
  base: string;
  mayCreate: boolean;
}

/** Alerts that fire now. */
export function FiringAlerts({ alerts, base, mayCreate }: FiringAlertsProps) {
  const firing = alerts.filter(({ state }) => state === "firing");
  if (alerts.length === 0) {
    return (
      <p class={css.quiet}>
        No alerts yet.{" "}
        {mayCreate ? <a href={`${base}/alerts/new?q=${encodeURIComponent(ERRORS)}`}>Create an alert</a> : null}
      </p>
    );
  }
  if (firing.length === 0) {
    return <p class={css.quiet}>No alert is firing.</p>;
  }
  return (
    <ul class={css.list}>
      {firing.map(({ id, projectId, name, lastFiredAt }) => (
        <li key={id}>
          <span>
            <Badge tone="bad">Firing</Badge> <a href={`${base}/alerts/${projectId}/${id}`}>{visible(name)}</a>
          </span>
          {lastFiredAt === null ? null : <Time at={lastFiredAt} format={SHORT} />}
        </li>
      ))}
    </ul>
  );
}

/** Versions that began in the last day, the newest first. Each leads to what it changed. */
export function Releases({ releases, workspaceId }: { releases: readonly Release[] | null; workspaceId: string }) {
  if (releases === null) return <p class={css.quiet}>Versions could not be read.</p>;
  if (releases.length === 0) {
    return <p class={css.quiet}>No version began in the last {HOURS} hours, as far as entries say.</p>;
  }
  const shown = releases.slice(0, LISTED);
  return (
    <>
      <ReleaseItems releases={shown} all={releases} workspaceId={workspaceId} />
      {releases.length > shown.length ? (
        <p class={css.quiet}>
          <a href={toolLink(workspaceId, null, "compare", viewOf("", DEFAULT_RANGE))}>
            {releases.length - shown.length} more
          </a>{" "}
          in these {HOURS} hours.
        </p>
      ) : null}
    </>
  );
}

interface ReleaseItemsProps {
  releases: readonly Release[];
  all: readonly Release[];
  workspaceId: string;
}

/** Each with the first setting that it changed. */
function ReleaseItems({ releases, all, workspaceId }: ReleaseItemsProps) {
  const scope = { workspaceId, projectId: null };
  const changesOf = useKnownChanges(scope, releases.toReversed());
  const signOf = signsOf(scope);
  return (
    <ul class={css.list}>
      {releases.map((release) => (
        <li key={`${release.service} ${release.version}`}>
          <span>
            <span class={css.sign} aria-hidden="true">
              {signOf(release)}
            </span>
            <a href={comparison(workspaceId, release, all)}>{visible(releaseName(release))}</a>
            <span class={css.change}>{firstChange(changesOf(release))}</span>
          </span>
          <Time at={release.at} format={SHORT} />
        </li>
      ))}
    </ul>
  );
}

/** Compares as the page itself offers for the same day: until the next release of the service, so that what it mends is in one span. */
export function comparison(workspaceId: string, release: Release, releases: readonly Release[]): string {
  const end = Date.now();
  const day = { start: end - HOURS * 60 * 60_000, end };
  const compared = spanAfter(release, [...releases].reverse(), day);
  const range = between(compared.start, compared.end);
  const link = toolLink(workspaceId, null, "compare", { order: "desc", live: false, range });
  return `${link}${offeredSearch(day)}`;
}

/** Keys that nothing has used for long, and those that are young and not used yet. */
export function UnusedKeys({ keys, base }: { keys: KeyUse; base: string }) {
  const { unused, young, hasMore } = keys;
  return (
    <>
      {unused.length === 0 ? (
        <p class={css.quiet}>No key older than {UNUSED_DAYS} days is unused.</p>
      ) : (
        <KeyItems label={`Keys without use in ${UNUSED_DAYS} days`} keys={unused} base={base} />
      )}
      {young.length === 0 ? null : (
        <>
          <p class={css.quiet}>Created in the last {UNUSED_DAYS} days and not used yet:</p>
          <KeyItems label="New keys without use" keys={young} base={base} />
        </>
      )}
      {hasMore ? <p class={css.quiet}>There are more.</p> : null}
    </>
  );
}

function KeyItems({ label, keys, base }: { label: string; keys: KeyUse["unused"]; base: string }) {
  return (
    <Items label={label}>
      {keys.map((key) => (
        <Item
          key={key.id}
          title={
            <>
              <a href={`${base}/settings/keys?project=${key.projectId}`}>{visible(key.name)}</a>
              <code>{key.prefix}…</code>
            </>
          }
          facts={[
            ["Last used", key.lastUsedAt === null ? "never" : <Time key="used" at={key.lastUsedAt} format={SHORT} />],
            ["Created", <Time key="created" at={key.createdAt} format={SHORT} />],
          ]}
        />
      ))}
    </Items>
  );
}
