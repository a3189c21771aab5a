import { z } from "zod";
import type { Mapping } from "../doors/shared/record-reader.ts";

/**
 * Whether a request of another client's protocol gets an idempotency key from its content. `auto`: if every record has an id
 * or a time that is not rounded to seconds. `always`: also without. `never`: no request does. Except with `never`, a record
 * with an id of the client's is stored once, whatever request has it. `record`: like `auto`, and each record with a time is
 * stored once.
 */
export const DEDUPE = ["auto", "always", "never", "record"] as const;
export type Dedupe = (typeof DEDUPE)[number];

/** How the entries of a key are read where clients have formats of their own. */
export interface KeySettings {
  mapping: Mapping;
  dedupe: Dedupe;
  /** Secret with which Vercel signs the bodies of a drain; absent if signatures are not checked. */
  vercelSecret?: string;
}

/** Settings as they are shown: without the secret. */
export interface ShownSettings extends Omit<KeySettings, "vercelSecret"> {
  hasVercelSecret: boolean;
}

export function shownSettings({ mapping, dedupe, vercelSecret }: KeySettings): ShownSettings {
  return { mapping, dedupe, hasVercelSecret: vercelSecret !== undefined };
}

/** The settings of a key whose settings were never changed: version 0. */
export const DEFAULT_SETTINGS: KeySettings = { mapping: {}, dedupe: "auto" };

/** Bounds of a mapping: names of one part of an entry, and characters of a name. */
export const MAPPING_BOUNDS = { names: 10, nameLength: 100 } as const;

const namesSchema = z.array(z.string().min(1).max(MAPPING_BOUNDS.nameLength)).min(1).max(MAPPING_BOUNDS.names);

const mappingNames = {
  message: namesSchema.optional(),
  time: namesSchema.optional(),
  level: namesSchema.optional(),
  service: namesSchema.optional(),
  host: namesSchema.optional(),
  traceId: namesSchema.optional(),
  spanId: namesSchema.optional(),
  session: namesSchema.optional(),
  category: namesSchema.optional(),
  type: namesSchema.optional(),
};
const MAPPING_DESCRIPTION =
  "Names of members by part of an entry, in order of preference, before the usual names. `a.b` is also the path to a nested member.";

export const mappingSchema = z.strictObject(mappingNames).describe(MAPPING_DESCRIPTION);

const UNKNOWN_PART = `Unknown part of an entry. Send ${Object.keys(mappingNames).join(", ")}.`;

/** A mapping as clients send it: `timestamp`, the member of an entry, is another name of `time`. */
export const sentMappingSchema = z
  .strictObject(
    { ...mappingNames, timestamp: namesSchema.optional().describe("The same as `time`, which comes first.") },
    { error: ({ code }) => (code === "unrecognized_keys" ? UNKNOWN_PART : undefined) },
  )
  .describe(MAPPING_DESCRIPTION);

/** Returns the settings of a stored text; the defaults without one. */
export function parseSettings(stored: string | null): KeySettings {
  if (stored === null) return DEFAULT_SETTINGS;
  // SAFETY: `changeKey` wrote the text.
  return { ...DEFAULT_SETTINGS, ...(JSON.parse(stored) as Partial<KeySettings>) };
}
