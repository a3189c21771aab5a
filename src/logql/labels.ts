/** Labels by name. */
export type LabelSet = ReadonlyMap<string, string>;

export const ERROR_LABEL = "__error__";
export const ERROR_DETAILS_LABEL = "__error_details__";
const DUPLICATE_SUFFIX = "_extracted";

/** Labels of an entry by where they come from. */
export interface CategorizedLabels {
  stream: Map<string, string>;
  metadata: Map<string, string>;
  parsed: Map<string, string>;
}

/**
 * The labels of an entry while stages run. Those that stages set come before structured metadata, and that before the
 * labels of the stream.
 */
export class EntryLabels {
  readonly #stream: LabelSet;
  readonly #metadata = new Map<string, string>();
  readonly #parsed = new Map<string, string>();
  readonly #deleted = new Set<string>();
  /** `null`: no stage has failed. */
  error: string | null = null;
  errorDetails: string | null = null;

  constructor(stream: LabelSet, metadata: LabelSet) {
    this.#stream = stream;
    for (const [name, value] of metadata) this.#metadata.set(this.freeName(name), value);
  }

  /** Returns the value; `undefined` without the label. */
  get(name: string): string | undefined {
    if (name === ERROR_LABEL) return this.error ?? undefined;
    if (name === ERROR_DETAILS_LABEL) return this.errorDetails ?? undefined;
    const own = this.#parsed.get(name) ?? this.#metadata.get(name);
    if (own !== undefined) return own;
    // An empty value is no label.
    return this.#deleted.has(name) ? undefined : this.#stream.get(name) || undefined;
  }

  /** Returns the name under which a parser or structured metadata adds a label: labels of the stream keep theirs. */
  freeName(name: string): string {
    return this.#stream.has(name) ? `${name}${DUPLICATE_SUFFIX}` : name;
  }

  /** Whether a stage has set the label. The first parser that finds a label wins. */
  isParsed(name: string): boolean {
    return this.#parsed.has(name);
  }

  set(name: string, value: string): void {
    this.#metadata.delete(name);
    this.#parsed.set(name, value);
  }

  delete(name: string): void {
    this.#parsed.delete(name);
    this.#metadata.delete(name);
    this.#deleted.add(name);
  }

  /** Notes the failure of a stage. The first one is kept. */
  fail(error: string, details: string): void {
    if (this.error !== null) return;
    this.error = error;
    this.errorDetails = details;
  }

  categorized(): CategorizedLabels {
    const stream = new Map<string, string>();
    for (const [name, value] of this.#stream) {
      const isHidden = this.#deleted.has(name) || this.#parsed.has(name) || this.#metadata.has(name);
      if (!isHidden) stream.set(name, value);
    }
    const parsed = new Map(this.#parsed);
    if (this.error !== null) parsed.set(ERROR_LABEL, this.error);
    if (this.errorDetails !== null && this.errorDetails !== "") parsed.set(ERROR_DETAILS_LABEL, this.errorDetails);
    return { stream, metadata: new Map(this.#metadata), parsed };
  }

  /** Returns all labels that have a value. */
  all(): Map<string, string> {
    const { stream, metadata, parsed } = this.categorized();
    const all = new Map([...stream, ...metadata, ...parsed]);
    for (const [name, value] of all) if (value === "") all.delete(name);
    return all;
  }
}

/** Returns a text that is the same for the same labels. */
export function labelKey(labels: LabelSet): string {
  return JSON.stringify([...labels].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}

/** Returns labels as an object, in the order of their names. */
export function labelsObject(labels: LabelSet): Record<string, string> {
  return Object.fromEntries([...labels].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}

/** Returns the name of a label for a name in a line; "" if there is none. */
export function labelName(name: string): string {
  const trimmed = name.trim();
  if (trimmed === "") return "";
  return (/^[0-9]/.test(trimmed) ? `_${trimmed}` : trimmed).replace(/[^a-zA-Z0-9_]/gu, "_");
}
