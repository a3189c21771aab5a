const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** A time in the local time zone, with UTC in its title. */
export function Time({ at, format = FULL }: { at: string | number; format?: Intl.DateTimeFormat }) {
  const date = new Date(at);
  const iso = date.toISOString();
  return (
    <time dateTime={iso} title={`${iso} (UTC)`}>
      {format.format(date)}
    </time>
  );
}
