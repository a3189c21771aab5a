import { visible } from "../../../lib/visible.ts";
import type { MemberChange, ReleaseChanges } from "./release-changes.ts";
import { shortened, valueTexts } from "./release-names.ts";
import css from "./release-popover.module.css";

/** Members of a release that are listed. */
const MEMBERS = 8;

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

function Member({ member }: { member: MemberChange }) {
  const { before, now } = valueTexts(member);
  return (
    <li>
      <code>{shortened(member.name)}</code> <span>{before}</span>
      <b>{now}</b>
    </li>
  );
}
