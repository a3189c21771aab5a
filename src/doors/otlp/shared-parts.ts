import { isOwnText } from "../../logs/ingest/validate.ts";
import { fitValues } from "../shared/fit-data.ts";

/** What records of one resource and one scope share. */

/** What the records of one scope share, besides what their resource has. */
export interface Scope {
  /** Name, version, attributes and what else was sent; `null` if nothing was. */
  members: Record<string, unknown> | null;
  schemaUrl: string;
  /** Bytes that were read. */
  bytes: number;
  /** Bytes of the message if it was cut. */
  cut?: number;
}

/** What the records of one resource share. */
export interface Resource {
  attributes: Record<string, unknown> | null;
  droppedAttributes: number;
  schemaUrl: string;
  /** Bytes of the message if it was cut. */
  cut?: number;
}

/** What the lines of a scope share, in UTF-8. */
export interface WrittenShared {
  /** `,"service":...,"host":...`, as far as they are. */
  own: Uint8Array;
  /** `"resource":{...},"scope":{...}`, as far as they are. */
  members: Uint8Array;
  /** Members of `data.otel`. */
  otel: Uint8Array;
}

const encoder = new TextEncoder();
/** UTF-16 units, and values, of what records share up to which their lines are written directly. */
const WRITTEN_LENGTH = 32 * 1024;
const WRITTEN_VALUES = 1000;

/** Values of all records of one scope, made once for all of them. */
export class Shared {
  readonly resource: Record<string, unknown> | null;
  readonly scope: Record<string, unknown> | null;
  /** Members of `data.otel` that do not come from the record, in JSON. */
  readonly otel: string;
  /** `data.resource` and `data.scope` in JSON, and the number of their values. */
  readonly members: string;
  readonly values: number;
  readonly service: string | undefined;
  readonly host: string | undefined;

  /** What of the shared parts is missing or cut. */
  readonly marks: Record<string, unknown> | null;

  /** @param isSplit whether the records are stored although the resource has not ended */
  constructor(resource: Resource, scope: Scope, isSplit: boolean) {
    this.resource = resource.attributes;
    this.scope = scope.members;
    this.service = textOf(resource.attributes?.["service.name"]);
    this.host = textOf(resource.attributes?.["host.name"]);
    const otel: Record<string, unknown> = {};
    if (resource.schemaUrl !== "") otel.resourceSchemaUrl = resource.schemaUrl;
    if (resource.droppedAttributes > 0) otel.resourceDroppedAttributes = resource.droppedAttributes;
    if (scope.schemaUrl !== "") otel.schemaUrl = scope.schemaUrl;
    this.otel = JSON.stringify(otel).slice(1, -1);
    const parts = {
      ...(this.resource === null ? {} : { resource: this.resource }),
      ...(this.scope === null ? {} : { scope: this.scope }),
    };
    this.values = fitValues(parts) - 1;
    this.members = JSON.stringify(parts).slice(1, -1);
    this.marks = marksOf(resource, scope, isSplit);
  }

  /** The shared parts in UTF-8; `null` if lines cannot be written with them. */
  get written(): WrittenShared | null {
    this.#written ??= this.#encoded();
    return this.#written === "not" ? null : this.#written;
  }

  #written: WrittenShared | "not" | null = null;

  #encoded(): WrittenShared | "not" {
    const isFew = this.members.length + this.otel.length <= WRITTEN_LENGTH && this.values <= WRITTEN_VALUES;
    if (this.marks !== null || !isFew) return "not";
    let own = "";
    for (const name of ["service", "host"] as const) {
      const text = this[name];
      if (text === undefined) continue;
      if (!isOwnText(text)) return "not";
      own += `,"${name}":${JSON.stringify(text)}`;
    }
    return { own: encoder.encode(own), members: encoder.encode(this.members), otel: encoder.encode(this.otel) };
  }
}

function marksOf(resource: Resource, scope: Scope, isSplit: boolean): Record<string, unknown> | null {
  const cut: Record<string, number> = {};
  if (resource.cut !== undefined) cut.resource = resource.cut;
  if (scope.cut !== undefined) cut.scope = scope.cut;
  const parts = { resource: resource.attributes, scope: scope.members };
  const missing = isSplit ? Object.entries(parts).flatMap(([name, value]) => (value === null ? [name] : [])) : [];
  const marks: Record<string, unknown> = {};
  if (Object.keys(cut).length > 0) marks.cut = cut;
  // They may have come after the records.
  if (missing.length > 0) marks.missing = missing;
  return Object.keys(marks).length === 0 ? null : marks;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
