import { conditionText } from "../../../../src/alerts/condition.ts";
import type { Preview } from "../../model/alerts.ts";
import { groupFields } from "./alert-query.ts";
import { type Draft, readDeciding } from "./draft.ts";
import { groupText } from "./words.ts";

/** Values of a message's names: those of the latest firing of a preview, or examples. */
export function sampleOf(draft: Draft, preview: Preview | null): Readonly<Record<string, string>> {
  const deciding = readDeciding(draft);
  const firing = preview?.decisions.findLast(({ kind }) => kind === "firing");
  const fields = draft.kind === "new-pattern" ? ["pattern"] : groupFields(draft.query);
  const group = firing?.group ?? Object.fromEntries(fields.map((field) => [field, "example"]));
  const value =
    firing?.value ?? Number(draft.kind === "change" ? draft.percent : draft.kind === "new-pattern" ? 1 : draft.value);
  return {
    name: draft.name,
    state: "firing",
    value: String(Math.round(value * 100) / 100),
    condition: deciding === null ? "" : conditionText(deciding.condition),
    window: draft.window,
    group: groupText(group),
    at: firing?.at ?? new Date().toISOString(),
    ...Object.fromEntries(Object.entries(group).map(([field, text]) => [`group.${field}`, text])),
  };
}
