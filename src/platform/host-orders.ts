/** What `npm start` tells the worker, one JSON text a line. */
export type HostCommand =
  /** The service stops: tails are closed, and the answer comes once no request is in flight. */
  | { do: "stop" }
  /** Space on the disk, as `hostState.disk`. Comes every second. */
  | { do: "disk"; disk: "ok" | "low" };

/** What the worker says, one JSON text a line. */
export interface HostReport {
  /** It has received the order, so all that arrived before is in flight by now. */
  received: HostCommand["do"];
}
