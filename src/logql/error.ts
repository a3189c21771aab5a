/** A text that is not LogQL, or uses a part of it that is not supported. */
export class LogqlError extends Error {
  /** UTF-16 offset; `null` if the query as a whole cannot run. */
  readonly position: number | null;

  constructor(message: string, position: number | null) {
    super(message);
    this.name = "LogqlError";
    this.position = position;
  }
}

/** Words an error as Loki does, with the line and the column from 1. */
export function withPlace(text: string, { message, position }: LogqlError): LogqlError {
  if (position === null) return new LogqlError(`parse error : ${message}`, null);
  const before = text.slice(0, position).split("\n");
  const column = (before.at(-1)?.length ?? 0) + 1;
  return new LogqlError(`parse error at line ${before.length}, col ${column}: ${message}`, null);
}
