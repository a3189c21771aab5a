const COMMON = `
Service
  --url <address>       default $TAFFRAIL_URL, or http://127.0.0.1:8787
  --project <id>        default $TAFFRAIL_PROJECT; query and stats need none
  --key <key>           default $TAFFRAIL_API_KEY, which other users of this machine cannot see

Output
  --json                one JSON object a line
  --color, --no-color   default: if a terminal reads; NO_COLOR=1 turns it off
  -h, --help            of a command: taffrail <command> --help
  --version`;

const OUTPUT = COMMON.slice(COMMON.indexOf("\nOutput"));

const FILTERS = `
Filters (all hold together; what may be repeated: any of them)
  --level <level>       trace debug log info warn error fatal; repeat, or a,b
  --min-level <level>   this one or a more severe one
  --category <name>     repeat
  --type <name>         repeat
  --session <id>        exactly this one
  --trace <id>          exactly this one
  --search <text>       in the message or any string, number or boolean in data
  --data <test>         status=500  status!=200  ms>=250  user.plan=team  user.id (there is one)
                        !user.id (there is none)  '["a.b"]=1'  zip='"0123"' (a string); repeat`;

const EXITS = `
Exit codes
  0 done   1 entries rejected, or not all found   2 wrong command line   3 the service refused or is away`;

export const HELP: Readonly<Record<string, string>> = {
  "": `taffrail: send, search and follow logs

  taffrail tail         follow a project's entries as they come
  taffrail query        search
  taffrail stats        count by time
  taffrail send         send entries from files or standard input
  taffrail audit        who changed what in a workspace

taffrail <command> --help says more.
${COMMON}
${EXITS}`,

  tail: `taffrail tail [options]: follow a project's entries as they come

Comes back by itself after a lost connection, exactly where it was. Ctrl-C ends it, and says how to go on.

  --since <when>        begin in the past: 15m, 2h, 1h30m, 2026-11-20T14:00, or behind a seq: seq:1234
                        (seq:0: from the oldest on). Without it: what comes from now on
  --limit <n>           end after so many entries
${FILTERS}
${COMMON}
${EXITS}`,

  query: `taffrail query [options]: search

  --since <when>        at or after: 15m, 2h, 1d (ago), 2026-11-20T14:00 (here), 2026-11-20T14:00Z (UTC)
  --until <when>        before
  --limit <n>           default 100
  --all                 no limit
  --order desc|asc      by timestamp; default desc: newest first
${FILTERS}
${COMMON}
${EXITS}`,

  stats: `taffrail stats [options]: count by time

  --since <when>        default 1h; "all" for all that is kept
  --until <when>        before
  --interval <length>   1m 5m 1h 1d; default: by the length of time
  --by <what>           count each level, category or type apart
${FILTERS}
${COMMON}
${EXITS}`,

  audit: `taffrail audit [options]: who changed what in a workspace, and who signed in to it; newest first

  --token <token>       the access token of an admin or owner, which lives 15 minutes; an API key will not do
                        default $TAFFRAIL_ACCESS_TOKEN, which other users of this machine cannot see
  --workspace <id>      default $TAFFRAIL_WORKSPACE
  --url <address>       default $TAFFRAIL_URL, or http://127.0.0.1:8787

  --actor <id>          usr_..., or system
  --action <name>       key.revoke, or all of a kind: session workspace member invitation project key limits
  --target <id>         what was changed
  --since <when>        at or after: 15m, 2h, 1d (ago), 2026-11-20T14:00 (here), 2026-11-20T14:00Z (UTC)
  --limit <n>           default 100
  --all                 no limit
${OUTPUT}
${EXITS}`,

  send: `taffrail send [options] [file ...]: send entries

From files or, without any or with -, from standard input: JSON objects, one a line, or one JSON array.
What waits is sent within half a second, each batch exactly once, however often it has to be tried.
Lines that are rejected are named on standard error.

  --text                lines are messages, not JSON
  -m, --message <text>  send this one entry
  --retry-for <length>  give up when a batch has been failing for so long, default 5m

Of entries by --text and -m
  --level <level>       default info
  --category <name>     default custom
  --type <name>
  --session <id>
  --trace <id>
  --data <path=value>   user.plan=team  status=500  zip='"0123"'  list='[1,2]'; repeat
${COMMON.replace("one JSON object a line", "receipts, one JSON object a line")}
${EXITS}`,
};
