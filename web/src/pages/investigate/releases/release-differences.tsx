import { type Loaded, useLoad } from "../../../lib/load.ts";
import { visible } from "../../explorer/view/visible.ts";
import { ask, queryFor } from "../ask.ts";
import { changeQueries, changesOf, type MemberChange, type ReleaseChanges } from "./release-changes.ts";
import css from "./release-popover.module.css";
import type { Release } from "./releases.ts";
import type { ReleaseScope } from "./version-fields.ts";

/** Members of a release that are listed, and characters of a value. */
const MEMBERS = 8;
const CHARACTERS = 60;

/**
 * Loads what each release changed, in one request.
 * @param field with versions; `null`: waits
 * @param releases few enough for their queries to fit into a request
 */
export function useReleaseChanges(
  { workspaceId, projectId }: ReleaseScope,
  field: string | null,
  releases: readonly Release[],
): Loaded<ReleaseChanges[]> {
  const key = JSON.stringify([workspaceId, projectId, field, releases]);
  return useLoad(key, async (signal): Promise<ReleaseChanges[]> => {
    if (field === null) return [];
    const queries = releases.map((release) => changeQueries(field, release));
    const asked = queries.flat().map(({ query, from, to }) => queryFor(query, projectId, { from, to }));
    const answers = asked.length === 0 ? [] : await ask(workspaceId, asked, signal, { followsSearch: true });
    return releases.map((release, at) => {
      const before = queries.slice(0, at).flat().length;
      const own = answers.slice(before, before + (queries[at]?.length ?? 0));
      return changesOf(
        field,
        release,
        own.map(({ logs }) => logs),
      );
    });
  });
}

/** Tells what a release changed. */
export function ReleaseDifferences({ changes }: { changes: ReleaseChanges | undefined }) {
  if (changes === undefined) return null;
  const { previous, members } = changes;
  if (previous === null) return <p class={css.quiet}>No version before it in the last 30 days.</p>;
  const version = visible(previous);
  if (members === null) return <p class={css.quiet}>{version} has no entry of the same kind to compare with.</p>;
  if (members.length === 0) return <p class={css.quiet}>Its entries have the same values as those of {version}.</p>;
  return (
    <>
      <p class={css.quiet}>Differs from {version}:</p>
      <ul class={css.members}>
        {members.slice(0, MEMBERS).map((member) => (
          <Member key={member.name} member={member} />
        ))}
      </ul>
      {members.length > MEMBERS ? <p class={css.quiet}>{members.length - MEMBERS} more</p> : null}
    </>
  );
}

function Member({ member: { name, before, now } }: { member: MemberChange }) {
  return (
    <li>
      <code>{shortened(name)}</code> <span>{before === null ? "none" : shortened(before)}</span>
      {" \u2192 "}
      <b>{now === null ? "none" : shortened(now)}</b>
    </li>
  );
}

function shortened(text: string): string {
  return visible(text.length > CHARACTERS ? `${text.slice(0, CHARACTERS)}\u2026` : text);
}
