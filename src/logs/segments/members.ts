/** Members of a line between `timestamp` and `data`, in their order. The first four are in every line. */
export const TEXT_MEMBERS = ["level", "category", "type", "message", "session", "traceId", "spanId"] as const;
