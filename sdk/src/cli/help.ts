const COMMON = `
Service
  --url <address>       default $TAFFRAIL_URL, or http://127.0.0.1:8787
  --project <id>        default $TAFFRAIL_PROJECT; query and stats need none
  --key <key>           default $TAFFRAIL_API_KEY, which other users of this machine cannot see

Output
  --json                one JSON object a line
  --color, --no-color   default: on a terminal; NO_COLOR=1 disables them
  -h, --help            of a command: taffrail <command> --help
  --version`;

const OUTPUT = COMMON.slice(COMMON.indexOf("\nOutput"));

const FILTERS = `
Filters (an entry must pass all; a repeated filter matches any of its values)
  <filter>              in the query language, in quotes: 'status:500..599 -route:/health "timed out"'
  --level <level>       trace debug log info warn error fatal; repeat, or a,b
  --min-level <level>   this one or a more severe one
  --category <name>     repeat
  --type <name>         repeat
  --service <name>      repeat
  --host <name>         repeat
  --session <id>        exactly this one
  --trace <id>          exactly this one
  --search <text>       in the message or any string, number or boolean in data
  --data <test>         status=500  status!=200  ms>=250  user.plan=team  user.id (exists)
                        !user.id (does not exist)  '["a.b"]=1'  zip='"0123"' (a string); repeat`;

const EXITS = `
Exit codes
  0 done   1 entries rejected, result incomplete, dry run with differences   2 invalid command line or file
  3 service refused or unreachable`;

export const HELP: Readonly<Record<string, string>> = {
  "": `taffrail: send, search and follow logs

  taffrail search       entries and tables by the query language
  taffrail tail         follow a project's entries as they come
  taffrail query        entries, by options
  taffrail stats        count by time
  taffrail send         send entries from files or standard input
  taffrail export       all entries of a project, as NDJSON or Parquet
  taffrail alerts       rules that notify: list, history, preview, mute, and rules as a file
  taffrail ledger       entries that should be in a project and are not
  taffrail mcp          the service's tools for a local agent
  taffrail audit        who changed what in a workspace
  taffrail completion   completion of command lines in bash, zsh and fish

See taffrail <command> --help.
${COMMON}
${EXITS}`,

  search: `taffrail search '<query>' [options]: entries and tables by the query language

  taffrail search 'level:>=error route:/api/* -category:cache'
  taffrail search 'level:error | top 10 by route'
  taffrail search 'ms:* | stats count(), p99(ms) by route, bin(5m)' --since 6h

Prints entries, newest first, or an aligned table. A table over spans of time (bin) begins with bars. Quote the query: it has
characters of the shell. An error marks its place. The language: docs/query-language.md.

  --since <when>        at or after: 15m, 2h, 1d (ago), 2026-11-20T14:00 (here), 2026-11-20T14:00Z (UTC)
  --until <when>        before
  --max-rows <n>        rows or entries to print; default 100, with --json and --csv all rows of a table
  --all                 no limit
  --csv                 CSV with a header
  --as-of <snapshot>    the same as an earlier answer, which printed it
  --max-tokens <n>      the compact answer of an agent's tool, cut to 500 to 20000 tokens; docs/mcp.md
  --next <place>        with --max-tokens: what follows an answer, which printed it; for the same query and times
${COMMON}
${EXITS}`,

  mcp: `taffrail mcp [options]: the service's tools for a local agent

Speaks the Model Context Protocol on standard input and output, and passes each message to the service with the key. Agents that
can send a header use <url>/mcp without it. Tools and examples: docs/mcp.md.
${COMMON}
${EXITS}`,

  completion: `taffrail completion bash|zsh|fish: completion of command lines

Prints a script. Completes commands, options, and in queries fields, values, pipes and functions, which the service suggests.

  bash    eval "$(taffrail completion bash)"      in ~/.bashrc
  zsh     eval "$(taffrail completion zsh)"       in ~/.zshrc, after compinit
  fish    taffrail completion fish | source       in ~/.config/fish/config.fish`,

  tail: `taffrail tail ['<filter>'] [options]: follow a project's entries as they come

Reconnects after a lost connection and continues without gaps. Ctrl-C stops it and prints how to continue.

  --since <when>        start in the past: 15m, 2h, 1h30m, 2026-11-20T14:00, or after a seq: seq:1234
                        (seq:0: from the oldest entry). Default: now
  --limit <n>           stop after n entries
${FILTERS}
${COMMON}
${EXITS}`,

  query: `taffrail query ['<filter>'] [options]: entries

  --since <when>        at or after: 15m, 2h, 1d (ago), 2026-11-20T14:00 (here), 2026-11-20T14:00Z (UTC)
  --until <when>        before
  --limit <n>           default 100
  --all                 no limit
  --order desc|asc      by timestamp; default desc: newest first
${FILTERS}
${COMMON}
${EXITS}`,

  stats: `taffrail stats ['<filter>'] [options]: count by time, or aggregate

  --since <when>        default 1h; "all" for all stored entries
  --until <when>        before
  --interval <length>   1m 5m 1h 1d; default: by the time range
  --by <what>           count each level, category, type, service or host separately

Aggregate (a table instead of counts by time)
  --agg <function>      count, "p99(durationMs)", "sum(bytes) as total"; repeat. Functions: count rate count_distinct
                        sum avg min max p50 p75 p90 p95 p99 p999 first last values
  --by <fields>         group by fields of entries or data: route,user.id
  --bin <length>        group by spans of time: 30s 5m 1h 1d
  --sort <column>       largest first; --order asc for smallest first
  --limit <n>           rows
${FILTERS}
${COMMON}
${EXITS}`,

  export: `taffrail export [options]: all entries of a project, in order of seq

Continues after a lost connection. Count and SHA-256 are verified; the last line of NDJSON is the manifest with both.

  --out <file>          default standard output. Written as <file>.partial until it is complete
  --format <format>     ndjson or parquet; default: parquet if <file> ends with .parquet
                        One response has about 800,000 entries as Parquet: the next ones are <file>-2.parquet ...
  --from <when>         at or after: 15m, 2h, 1d (ago), 2026-11-20T14:00 (here), 2026-11-20T14:00Z (UTC); or --since
  --to <when>           before; or --until
  --after-seq <n>       only entries after this seq, as an interrupted export prints it
  --retry-for <length>  give up after this time of failures, default 5m
${COMMON.replace("one JSON object a line", "with --out: the manifest")}
${EXITS}`,

  alerts: `taffrail alerts <action> [<name>] [options]: the alerts of a project

  taffrail alerts                          list with states
  taffrail alerts show <name>              the rule and its state
  taffrail alerts history <name>           what it decided in 30 days, newest first
  taffrail alerts preview <name>           when it would have fired in the last 7 days; with -f a rule of a file
  taffrail alerts mute <name> --for 2h     no notifications; unmute ends it
  taffrail alerts delete <name>
  taffrail alerts export > rules.yaml      all rules as a file
  taffrail alerts apply -f rules.yaml      creates and changes alerts; with --prune deletes those that are not in the file

Rules as a file are reviewed in git. Names identify rules, and destinations are given by name. The file and its members: docs/alerts.md.

  -f, --file <file>     apply, preview: a file of rules; - for standard input
  --dry-run             apply: print what would change; the exit code is 1 if anything would
  --prune               apply: delete the alerts that are not in the file
  --revision <text>     apply: refuse if the alerts changed since --dry-run, which prints it
  --for <length>        mute: 30m, 2h, 1d from now, or from --from
  --from <time>         mute: 2026-11-20T14:00 (here), 2026-11-20T14:00Z (UTC)
  --until <time>        mute: instead of --for
  --limit <n>           history: default 50
  --all                 history: no limit

Credential
  --key <key>           default $TAFFRAIL_API_KEY, with the scope alerts:read, or alerts:write for changes; previews need logs:read
  --token <token>       instead: access token of a member; default $TAFFRAIL_ACCESS_TOKEN, if no key is set
  --workspace <id>      with a token; default $TAFFRAIL_WORKSPACE
  --project <id>        default $TAFFRAIL_PROJECT
  --url <address>       default $TAFFRAIL_URL, or http://127.0.0.1:8787
${OUTPUT}
${EXITS}`,

  ledger: `taffrail ledger [options]: entries that should be in a project and are not, by reason; newest first

Lists what was rejected or limited, by key and hour, what clients of the library dropped, and entries of theirs that never
arrived. Then prints the sum of each reason. With --json one item a line.

  --token <token>       access token of a member, valid for 15 minutes; an API key is not accepted
                        default $TAFFRAIL_ACCESS_TOKEN, which other users of this machine cannot see
  --workspace <id>      default $TAFFRAIL_WORKSPACE
  --project <id>        default $TAFFRAIL_PROJECT
  --url <address>       default $TAFFRAIL_URL, or http://127.0.0.1:8787

  --since <when>        at or after: 15m, 2h, 1d (ago), 2026-11-20T14:00 (here), 2026-11-20T14:00Z (UTC); default 1d
  --until <when>        before
  --limit <n>           default 100
  --all                 no limit
${OUTPUT}
${EXITS}`,

  audit: `taffrail audit [options]: who changed what in a workspace, and who signed in to it; newest first

  --token <token>       access token of an admin or owner, valid for 15 minutes; an API key is not accepted
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
Entries are sent within half a second, each batch exactly once, also after retries.
Rejected lines are reported on standard error.

  --text                lines are messages, not JSON
  -m, --message <text>  send this one entry
  --retry-for <length>  give up after this time of failures, default 5m

Members of entries by --text and -m
  --level <level>       default info
  --category <name>     default custom
  --type <name>
  --service <name>
  --host <name>
  --session <id>
  --trace <id>
  --data <path=value>   user.plan=team  status=500  zip='"0123"'  list='[1,2]'; repeat
${COMMON.replace("one JSON object a line", "receipts, one JSON object a line")}
${EXITS}`,
};
