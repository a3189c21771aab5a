/** What is exported. Times are those of a local time input; empty: from the oldest entry, or to the newest. */
export interface ExportChoice {
  format: "ndjson" | "parquet";
  from: string;
  to: string;
}

const LOCAL_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?$/;

/** Reads a choice from the parameters of an address. Invalid ones count as absent. */
export function readChoice({ format, from = "", to = "" }: Readonly<Record<string, string>>): ExportChoice {
  const timeOf = (text: string): string => (LOCAL_TIME.test(text) && !Number.isNaN(Date.parse(text)) ? text : "");
  return { format: format === "parquet" ? "parquet" : "ndjson", from: timeOf(from), to: timeOf(to) };
}

/** The parameters of the address of a choice. */
export function exportParameters({ format, from, to }: ExportChoice): URLSearchParams {
  return new URLSearchParams({
    format,
    ...(from === "" ? {} : { from }),
    ...(to === "" ? {} : { to }),
  });
}
