import type { Schema } from "./document.ts";

/** One matching text for each pattern in the document. */
const TEXTS = [
  "sample",
  "viewer",
  "someone@example.com",
  "2026-11-20T14:00:00.000Z",
  "correct horse battery",
  "x".repeat(43),
  "1",
  "sample-text",
];

/** Whether a schema accepts a value. Schemas of samples have no references to the document. */
export type Accepts = (schema: Schema, value: unknown) => boolean;

/** One value that a schema accepts, with every member that it names. */
export function sampleOf(schema: Schema, accepts: Accepts): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  const example = schema.examples?.find((each) => accepts(schema, each));
  if (example !== undefined) return example;
  const branches = schema.anyOf ?? schema.oneOf;
  if (branches) return sampleOf(branches.find((branch) => branch.type !== "null") ?? {}, accepts);
  const type = typesOf(schema).find((each) => each !== "null");
  switch (type) {
    case "object":
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([name, member]) => [name, sampleOf(member, accepts)]),
      );
    case "array":
      return Array.from({ length: Math.max(1, schema.minItems ?? 0) }, () => sampleOf(schema.items ?? {}, accepts));
    case "integer":
    case "number":
      return Math.min(Math.max(schema.minimum ?? 0, 1), schema.maximum ?? 1);
    case "boolean":
      return true;
    case "null":
      return null;
    default: {
      const texts = [...TEXTS, "x".repeat(schema.minLength ?? 1)];
      return texts.find((text) => accepts(schema, text)) ?? "sample";
    }
  }
}

export function typesOf({ type }: Schema): string[] {
  if (type === undefined) return [];
  return Array.isArray(type) ? type : [type];
}
