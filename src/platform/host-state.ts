/**
 * What `npm start` has said about the machine and its own intentions, as `objects/host-control.ts` received it. Module state:
 * one instance an isolate, which all requests and objects in it share. On Cloudflare it never changes.
 */
export const hostState = {
  /** The service is stopping: what is in flight is answered, and no tail is opened any more. */
  isStopping: false,
};
