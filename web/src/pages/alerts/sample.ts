import { conditionText } from "../../../../src/alerts/condition.ts";
import { groupText, messageTime } from "../../../../src/alerts/template.ts";
import type { Preview } from "../../model/alerts.ts";
import { groupFields } from "./alert-query.ts";
import { type Draft, readDeciding } from "./draft.ts";

/** Values of a message's names: those of the latest firing of a preview, or examples; `null` while the rule is not complete. */
export function sampleOf(draft: Draft, preview: Preview | null): Readonly<Record<string, string>> | null {
  const deciding = readDeciding(draft);
  if (deciding === null) return null;
  const firing = preview?.decisions.findLast(({ kind }) => kind === "firing");
  const fields = draft.kind === "new-pattern" ? ["pattern"] : groupFields(draft.query);
  const group = firing?.group ?? Object.fromEntries(fields.map((field) => [field, "example"]));
  const value =
    firing?.value ?? Number(draft.kind === "change" ? draft.percent : draft.kind === "new-pattern" ? 1 : draft.value);
  return {
    name: draft.name,
    state: "firing",
    value: String(Math.round(value * 100) / 100),
    condition: conditionText(deciding.condition),
    window: draft.window,
    group: groupText(firing ?? { group }),
    at: messageTime(firing === undefined ? Date.now() : Date.parse(firing.at)),
    ...Object.fromEntries(Object.entries(group).map(([field, text]) => [`group.${field}`, text])),
  };
}
