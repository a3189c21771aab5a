/**
 * What `npm start` has said about the machine and its own intentions, as `objects/host-control.ts` received it. Module state:
 * one instance an isolate, which all requests and objects in it share. On Cloudflare it never changes.
 */
export const hostState: {
  /** The service is stopping: what is in flight is answered, and no tail is opened any more. */
  isStopping: boolean;
  /**
   * Space on the disk that holds the data. `low`: less than `MIN_FREE_BYTES` are free, so entries are refused and nothing is
   * moved to the cold tier; what remains is for counters, sign-ins and deletions. Null where no disk is watched.
   */
  disk: "ok" | "low" | null;
} = { isStopping: false, disk: null };
