import { LeaveGuard } from "./leave-guard.tsx";

/** Asks before changes are dropped. Render it while there are some. @param what has them, in a sentence */
export function ChangesGuard({ what }: { what: string }) {
  return (
    <LeaveGuard title="Discard changes?" action="Discard changes" stay="Keep editing">
      <p>The changes to {what} have not been saved.</p>
    </LeaveGuard>
  );
}
