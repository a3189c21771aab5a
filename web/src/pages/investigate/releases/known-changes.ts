import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { PicturedRelease, Release } from "../../../charts/releases.ts";
import { ask, queryFor } from "../ask.ts";
import { changeQueries, changesOf, type ReleaseChanges, STARTING_MS } from "./release-changes.ts";
import { firstChange, signOf } from "./release-names.ts";
import { type ReleaseScope, versionField } from "./version-fields.ts";

/** What releases changed, as far as it is known: once for all drawings that mark them. */
const known = signal<ReadonlyMap<string, ReleaseChanges>>(new Map());
/** Keys of releases of which this was asked for. A failure leaves it to the pointer to ask again. */
const asked = new Set<string>();
/** Keys of releases of which this could not be loaded. */
const failed = signal<ReadonlySet<string>>(new Set());
/** Releases of a request: their queries fit into it. */
export const CHANGES_AT_ONCE = 6;
/** Milliseconds after which marks are drawn without what their releases changed. */
const WITHIN_MS = 5000;

/** What a release changed; `undefined` until it is known. Renders the component again when it is. */
export type KnownChanges = (release: Release) => ReleaseChanges | undefined;

/** Reads what is known, and asks for nothing. */
export function knownChanges(scope: ReleaseScope): KnownChanges {
  const field = versionField(scope);
  return (release) => known.value.get(keyOf(scope, field, release));
}

/** Whether a release is drawn as it stays: what it changed is known, or could not be loaded. */
export function settledReleases(scope: ReleaseScope): (release: Release) => boolean {
  const field = versionField(scope);
  return (release) => {
    const key = keyOf(scope, field, release);
    return field === null || known.value.has(key) || failed.value.has(key);
  };
}

/** The sign of a release in a list, as that of its mark: none until the mark is drawn. */
export function signsOf(scope: ReleaseScope): (release: Release) => string {
  const [changesOf, isSettled] = [knownChanges(scope), settledReleases(scope)];
  return (release) => (isSettled(release) ? signOf(changesOf(release)) : "");
}

/** The first setting that a release is known to have changed; empty for none. */
export function firstChangeOf(scope: ReleaseScope): (release: Release) => string {
  const changesOf = knownChanges(scope);
  return (release) => firstChange(changesOf(release));
}

/** Returns releases for an image, with what is known of them. */
export function picturedReleases(scope: ReleaseScope, releases: readonly Release[]): PicturedRelease[] {
  const changeOf = firstChangeOf(scope);
  return releases.map((release) => ({ ...release, change: changeOf(release) }));
}

/** Loads what releases changed, the newest first and each once, so that those with a changed setting are marked as such. */
export function useKnownChanges(scope: ReleaseScope, releases: readonly Release[]): KnownChanges {
  const field = versionField(scope);
  useEffect(() => {
    if (field !== null) void loadMissing(scope, field, releases.toReversed());
  }, [releases.map((release) => keyOf(scope, field, release)).join("\n")]);
  return knownChanges(scope);
}

async function loadMissing(scope: ReleaseScope, field: string, releases: readonly Release[]): Promise<void> {
  const missing = releases.filter((release) => !asked.has(keyOf(scope, field, release)));
  for (const release of missing) asked.add(keyOf(scope, field, release));
  for (let at = 0; at < missing.length; at += CHANGES_AT_ONCE) {
    const some = missing.slice(at, at + CHANGES_AT_ONCE);
    try {
      // Another drawing may wait for it, so it ends with none of them.
      await loadChanges(scope, field, some, AbortSignal.timeout(WITHIN_MS));
    } catch {
      // Their marks look like those of releases that changed nothing known, and say so when they are pointed at.
      failed.value = new Set([...failed.peek(), ...some.map((release) => keyOf(scope, field, release))]);
    }
    // Its hosts still start.
    for (const release of some) if (Date.now() < release.at + STARTING_MS) asked.delete(keyOf(scope, field, release));
  }
}

/** Loads what each release changed, in one request, for all drawings. @param releases few enough for one request */
export async function loadChanges(
  scope: ReleaseScope,
  field: string,
  releases: readonly Release[],
  signal: AbortSignal,
): Promise<ReleaseChanges[]> {
  const { workspaceId, projectId } = scope;
  const queries = releases.map((release) => changeQueries(field, release));
  const batch = queries.flat().map(({ query, from, to }) => queryFor(query, projectId, { from, to }));
  const answers = batch.length === 0 ? [] : await ask(workspaceId, batch, signal, { followsSearch: true });
  const changes = releases.map((release, at) => {
    const before = queries.slice(0, at).flat().length;
    const own = answers.slice(before, before + (queries[at]?.length ?? 0));
    return changesOf(
      field,
      release,
      own.map(({ logs }) => logs),
    );
  });
  known.value = new Map([
    ...known.peek(),
    ...releases.flatMap((release, at) => {
      const found = changes[at];
      return found === undefined ? [] : [[keyOf(scope, field, release), found] as const];
    }),
  ]);
  return changes;
}

function keyOf({ workspaceId, projectId }: ReleaseScope, field: string | null, release: Release): string {
  const { service, version, at, previous } = release;
  return JSON.stringify([workspaceId, projectId, field, service, version, at, previous]);
}
