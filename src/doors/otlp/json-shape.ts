import { DoorBodyFault } from "../decoder.ts";

/** The shape of an `ExportLogsServiceRequest` in JSON, outside of its records. */

export type Kind = "request" | "resources" | "resource logs" | "scopes" | "scope logs" | "records";

/** What a value is read as once it has ended. `cut`: too long to be read. */
export type Use = "record" | "resource" | "scope" | "resource schema" | "scope schema" | "nothing" | "cut";

/** Arrays of messages: the member that has them, in both spellings, and what the array and its items are. */
export const LISTS: Readonly<Partial<Record<Kind, { names: ReadonlySet<string>; list: Kind }>>> = {
  request: { names: new Set(["resourceLogs", "resource_logs"]), list: "resources" },
  "resource logs": { names: new Set(["scopeLogs", "scope_logs"]), list: "scopes" },
  "scope logs": { names: new Set(["logRecords", "log_records"]), list: "records" },
};
export const ITEMS: Readonly<Partial<Record<Kind, Kind>>> = { resources: "resource logs", scopes: "scope logs" };
export const USES: Readonly<Partial<Record<Kind, Readonly<Record<string, Use>>>>> = {
  "resource logs": { resource: "resource", schemaUrl: "resource schema", schema_url: "resource schema" },
  "scope logs": { scope: "scope", schemaUrl: "scope schema", schema_url: "scope schema" },
};

export function notJson(): DoorBodyFault {
  return new DoorBodyFault("The body is not valid JSON of an ExportLogsServiceRequest.");
}

/** The text of a JSON string; `""` for another value. @throws DoorBodyFault */
export function nameOf(quoted: string): string {
  try {
    const value: unknown = JSON.parse(quoted);
    return typeof value === "string" ? value : "";
  } catch {
    throw notJson();
  }
}
