import type { LogEntry } from "../../../model/types.ts";

/** Returns the service or host of an entry as the service finds it: the own member, else one in `data`; empty without one. */
export function ownName(entry: LogEntry, name: "service" | "host"): string {
  const { data } = entry;
  const inner = data?.[name];
  const nested = typeof inner === "object" && inner !== null && "name" in inner ? inner.name : undefined;
  const found = [entry[name], inner, nested, data?.[`${name}.name`]].find((value) => typeof value === "string");
  return typeof found === "string" ? found : "";
}
