interface Reason {
  path: string;
  code: string;
  message: string;
}

/** Refusals for what no schema can say: by the field, and what the answer says of it. */
const UNSAYABLE: readonly (readonly [operation: RegExp, path: RegExp, what: RegExp])[] = [
  // Made by the service alone: which text it gave is not in its form.
  [/\.list$/, /^query\.cursor$/, /^No page gave this cursor\.$/],
  [/^operator\./, /^query\.cursor$/, /^No page gave this cursor\.$/],
  [/^workspace\.query$/, /^pagination\.cursor$/, /^This is not a cursor\.$/],
  [/^workspace\.query$/, /^asOf$/, /^This is not a snapshot\.$|^There is no such snapshot yet\.$/],
  // Of the time of the request.
  [/^key\.create$/, /^expiresAt$/, /^must be in the future and at most 365 days ahead\.$/],
  [/^workspace\.ingest$/, /^entry$/, /^timestamp is (?:more than 24 hours ahead|older than )/],
  // Of two members or parameters together.
  [/^workspace\.query$/, /^pagination\.offset$/, /leave the offset out\.$/],
  [/^workspace\.tail$/, /^query$/, /^The filters are too long: at most \d+ bytes together\.$/],
  [/^workspace\.ingest$/, /^entry$/, / stands both in the entry and in data\.$/],
  [/^limits\.set$/, /^(?:default|rules\.\d+)\.limit$/, /^limit \* windowSeconds must be at most /],
  [/^limits\.set$/, /^rules\.\d+\.path$/, /has the same method and path|^No route of /],
  [/^auth\.oauth\./, /^query\.code_challenge$/, /^mode=code and code_challenge go together$/],
  // Of the account.
  [/^auth\.(?:delete|password\.change)$/, /^(?:p|currentP)assword$/, /^The account has a password\.$/],
];

/** Whether a request is refused for what no schema can say: of the time, of two members together, of what exists. */
export function isUnsayable(operation: string, { path, message }: Reason): boolean {
  return UNSAYABLE.some(([id, place, what]) => id.test(operation) && place.test(path) && what.test(message));
}
