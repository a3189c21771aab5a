/** Returns an object whose members can be read by name; `null` for other values. */
export function record(value: unknown): Record<string, unknown> | null {
  // SAFETY: members of any object can be read by name; each is checked before it is used.
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
}
