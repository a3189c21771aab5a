/** The alarm of an object, shared by several duties. It only moves to an earlier time until it fires. */
export class SharedAlarm {
  readonly #storage: Pick<DurableObjectStorage, "getAlarm" | "setAlarm">;
  #at: number | null = null;

  constructor(storage: Pick<DurableObjectStorage, "getAlarm" | "setAlarm">) {
    this.#storage = storage;
  }

  /** Reads the time to which the alarm is set; `null` if it is not set. Await before any other method. */
  async load(): Promise<number | null> {
    this.#at = await this.#storage.getAlarm();
    return this.#at;
  }

  /**
   * Makes the alarm fire at this time or before. Not awaited: an await would end the turn, and the output gate holds
   * the response until the alarm is stored.
   */
  by(at: number): void {
    if (this.#at !== null && this.#at <= at) return;
    this.#at = at;
    this.#storage.setAlarm(at);
  }

  /** Call first in the alarm handler. */
  onFired(): void {
    this.#at = null;
  }
}
