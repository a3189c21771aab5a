/** A value of a field that groups entries. `null`: the entry has no text, number or boolean there. */
export type GroupValue = string | number | boolean | null;

/** Characters of a text that groups entries. The rest of a longer one is left out. */
export const GROUP_CHARACTERS = 200;

/** What a decision or a notification says of its group. */
export interface SaidGroup {
  /** The texts of the values. */
  group: Readonly<Record<string, string>> | null;
  /** The values themselves. Absent or `null` in what earlier versions stored. */
  groupValues?: Readonly<Record<string, GroupValue>> | null | undefined;
}

/** Returns the values of a group as texts of which no two different values have the same: `null` and `"null"`, `0` and `"0"`. */
export function shownGroup({ group, groupValues }: SaidGroup): Record<string, string> {
  if (groupValues == null) return { ...group };
  return Object.fromEntries(Object.entries(groupValues).map(([field, value]) => [field, shownValue(value)]));
}

/** Returns a value of a group as a text that no other value has. */
export function shownValue(value: GroupValue): string {
  return isAmbiguousText(value) || (typeof value === "string" && value.startsWith('"'))
    ? JSON.stringify(value)
    : String(value);
}

/** Whether a value is a text that a value of another type has, too. */
export function isAmbiguousText(value: GroupValue): boolean {
  if (typeof value !== "string") return false;
  return (
    ["null", "true", "false"].includes(value) || (Number.isFinite(Number(value)) && String(Number(value)) === value)
  );
}

/** Returns a group in one line; empty without one. */
export function groupText(group: SaidGroup): string {
  return Object.entries(shownGroup(group))
    .map(([field, text]) => `${field}=${text}`)
    .join(", ");
}

/** What a rule's message may name: `{{name}}`, `{{value}}`, `{{group.service}}` and so on. */
export type TemplateValues = Readonly<Record<string, string>>;

const PLACE = /\{\{\s*([^{}]{1,300}?)\s*\}\}/g;

/** Names that every message has; `group.` and a field of the rule's groups come in addition. */
export const TEMPLATE_NAMES = ["name", "state", "value", "condition", "window", "group", "at"] as const;

/** A message without one of its rule's own. */
export const USUAL_MESSAGE = "{{value}} in {{window}} ({{condition}}), until {{at}}";

/** Returns a time as messages have it: `2026-11-27 16:29:20 UTC`. @param at epoch milliseconds */
export function messageTime(at: number): string {
  return `${new Date(at).toISOString().slice(0, "2026-11-27T16:29:20".length).replace("T", " ")} UTC`;
}

/**
 * Replaces the names in a message by their values. A name without a value stays as written.
 * @param most characters of values after which further names are left out: the caller cuts longer texts
 */
export function fillTemplate(template: string, values: TemplateValues, most: number): string {
  let length = 0;
  return template.replace(PLACE, (written, name: string) => {
    if (length > most) return "";
    const text = Object.hasOwn(values, name) ? (values[name] ?? "") : written;
    length += text.length;
    return text;
  });
}

/** Returns the names in a message that no rule has; `fields`: those of the rule's groups. */
export function unknownNames(template: string, fields: readonly string[]): string[] {
  const known = new Set<string>([...TEMPLATE_NAMES, ...fields.map((field) => `group.${field}`)]);
  return [...template.matchAll(PLACE)].map(([, name = ""]) => name).filter((name) => !known.has(name));
}
