interface Reason {
  path: string;
  code: string;
  message: string;
}

/** Refusals that no schema can express, by operation, field and message. */
const UNSAYABLE: readonly (readonly [operation: RegExp, path: RegExp, what: RegExp])[] = [
  // Only the service creates these texts; their form does not show whether it did.
  [/^usage\.days$/, /^query\.cursor$/, /^Invalid cursor\. /],
  [/\.(?:list|decisions)$/, /^query\.cursor$/, /^Invalid cursor\. /],
  [/^operator\./, /^query\.cursor$/, /^Invalid cursor\. /],
  [/^workspace\.query$/, /^pagination\.cursor$/, /^Invalid cursor\. /],
  [/^workspace\.search$/, /^cursor$/, /^Invalid cursor\. /],
  [
    /^workspace\.(?:query|stats|search|searchBatch)$/,
    /^asOf$/,
    /^Invalid snapshot\. |^The snapshot does not exist yet\.$/,
  ],
  // Depends on the time of the request.
  [/^key\.create$/, /^expiresAt$/, /^must be in the future and at most 365 days ahead\.$/],
  [/^workspace\.ingest$/, /^entry$/, /^timestamp is (?:more than 24 hours ahead|older than )/],
  // Depends on the text of the query.
  [/^(?:workspace|search)\./, /^(?:query|query\.q|q)$/, /\.$/],
  [/^(?:view|board)\./, /^(?:panels\.\d+\.)?query$/, /[.?]$/],
  // Depends on two members or parameters together.
  [/^usage\.days$/, /^query\.from$/, /^Must not be after `to`\.$|^At most \d+ days\. /],
  [/^workspace\.search$/, /^cursor$/, /^A table has no pages\. /],
  [/^workspace\.search$/, /^limit$/, /^A page has at most /],
  [/^workspace\.query$/, /^pagination\.offset$/, /Remove the offset\.$/],
  [/^workspace\.tail$/, /^query$/, /^The filters are too long: at most \d+ bytes together\.$/],
  [/^workspace\.ingest$/, /^entry$/, / is both in the entry and in data\.$/],
  [/^limits\.set$/, /^(?:default|rules\.\d+)\.limit$/, /^limit \* windowSeconds must be at most /],
  [/^board\./, /^panels\.\d+\.(?:kind|w|id)$/, / needs a query that makes a table|^x \+ w must be |^Two panels have /],
  [/^board\./, /^panels$/, / bytes of JSON together\.$/],
  [/^limits\.set$/, /^rules\.\d+\.path$/, /has the same method and path|^No route of /],
  [/^auth\.oauth\./, /^query\.code_challenge$/, /^mode=code and code_challenge must be sent together$/],
  [/^workspace\.stats$/, /^(?:aggregations|groupBy)$/, /^Two columns are named /],
  [/^workspace\.stats$/, /^aggregations\.\d+\.fn$/, /^A rate needs a bin /],
  [/^workspace\.stats$/, /^sort\.by$/, /^Must be a column: /],
  // Depends on the entries of the project.
  [/^workspace\.export$/, /^query\.afterSeq$/, /^The project has no entry with this seq yet\.$/],
  // Depends on which fields an entry has.
  [/^workspace\.stats$/, /^aggregations\.\d+\.field$/, / needs numbers, /],
  [/^workspace\.stats$/, /^(?:aggregations\.\d+\.field|groupBy\.\d+)$/, / cannot be aggregated\. /],
  [/^alert\./, /^(?:alerts\.\d+\.)?query$/, /[.?]$/],
  [/^alert\./, /^(?:alerts\.\d+\.)?recovery$/, /^Must be at (?:least|most) the /],
  [/^alert\./, /^(?:alerts\.\d+\.)?condition\.percent$/, /^A fall is at most 100 percent\.$/],
  [/^alert\./, /^(?:alerts\.\d+\.)?message$/, /has no value\. The names are /],
  [/^alert\./, /^(?:alerts\.\d+\.)?mutes\.\d+\.to$/, /^Must be after /],
  [/^alert\./, /^(?:alerts\.\d+\.)?labels$/, /^Must have at most \d+ labels\.$/],
  [/^alert\./, /^alerts\.\d+\.name$/, /^Another alert of the list has this name\.$/],
  // Depends on the destinations of the workspace.
  [/^alert\./, /^(?:alerts\.\d+\.)?destinations\.\d+$/, /^The workspace has no destination /],
  // Depends on the client that the request names, and on what it asks for.
  [/^grant\.create$/, /^request$/, /\.$/],
  [/^grant\.create$/, /^scopes$/, /^must contain logs:read\.$|^The client did not ask for /],
  // Depends on the host that the URL names, and on a setting.
  [/^destination\./, /^url$/, /^must /],
  // Depends on the account.
  [/^auth\.(?:delete|password\.change)$/, /^(?:p|currentP)assword$/, /^The account has a password\.$/],
];

/** Whether no schema can express a refusal, because it depends on the time, on several members or on existing data. */
export function isUnsayable(operation: string, { path, message }: Reason): boolean {
  return UNSAYABLE.some(([id, place, what]) => id.test(operation) && place.test(path) && what.test(message));
}
