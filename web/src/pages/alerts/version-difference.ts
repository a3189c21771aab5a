import type { AlertDefinition } from "../../model/alerts.ts";

/** A member that differs between two versions; `null`: the version does not have it, or it is empty. */
export interface Difference {
  member: string;
  before: string | null;
  after: string | null;
}

const LABELS: Readonly<Record<keyof AlertDefinition, string>> = {
  name: "Name",
  query: "Query",
  condition: "Condition",
  window: "Window",
  delay: "Delay",
  for: "For",
  recovery: "Recovery",
  labels: "Labels",
  message: "Message",
  destinations: "Destinations",
  mutes: "Mutes",
};
// SAFETY: the keys of the literal above.
const MEMBERS = Object.keys(LABELS) as (keyof AlertDefinition)[];

/**
 * Returns what a version changed, in the order of the editor.
 * @param before the version before; `null` for the first one, which changes nothing
 * @param write writes a member that is no text
 */
export function differences(
  before: AlertDefinition | null,
  after: AlertDefinition,
  write: (member: keyof AlertDefinition, definition: AlertDefinition) => string,
): Difference[] {
  if (before === null) return [];
  return MEMBERS.flatMap((member) => {
    const [old, next] = [write(member, before), write(member, after)];
    return old === next
      ? []
      : [{ member: LABELS[member], before: old === "" ? null : old, after: next === "" ? null : next }];
  });
}
