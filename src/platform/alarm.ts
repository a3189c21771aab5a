/** An object's one alarm, shared by several duties: it only ever moves to an earlier time, until it has gone off. */
export class SharedAlarm {
  readonly #storage: Pick<DurableObjectStorage, "getAlarm" | "setAlarm">;
  #at: number | null = null;

  constructor(storage: Pick<DurableObjectStorage, "getAlarm" | "setAlarm">) {
    this.#storage = storage;
  }

  /** Learns what it is set to; null where it is not. To be awaited before anything else. */
  async load(): Promise<number | null> {
    this.#at = await this.#storage.getAlarm();
    return this.#at;
  }

  /** Goes off at this time or before. Not awaited: an await would end the turn, and the output gate holds the answer. */
  by(at: number): void {
    if (this.#at !== null && this.#at <= at) return;
    this.#at = at;
    this.#storage.setAlarm(at);
  }

  /** To be called first of all when it goes off. */
  onFired(): void {
    this.#at = null;
  }
}
