const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** A time in the local zone; its UTC form shows on hover and focus, and is what a screen reader's user can ask for. */
export function Time({ at, format = FULL }: { at: string | number; format?: Intl.DateTimeFormat }) {
  const date = new Date(at);
  const iso = date.toISOString();
  return (
    <time dateTime={iso} title={`${iso} (UTC)`}>
      {format.format(date)}
    </time>
  );
}
