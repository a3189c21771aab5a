/** What `npm start` tells the worker, one JSON text a line. */
export type HostOrder =
  /** The service stops: tails are closed, and the answer comes once no request is in flight. */
  | { do: "stop" }
  /** Space on the disk, as `hostState.disk`. Comes every second. */
  | { do: "disk"; disk: "ok" | "low" };

/** What the worker answers once it has carried out all orders. */
export interface HostReport {
  /** Whether a stop found tails to close. Their connections may outlast everything else. */
  hasClosedTails: boolean;
}
