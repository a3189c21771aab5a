import { timeFormat } from "../../lib/zone.ts";
import { Badge } from "../../ui/badge.tsx";
import { ScrollBox } from "../../ui/scroll-box.tsx";
import css from "./answer.module.css";
import { type CallAnswer, errorCode, member } from "./call.ts";
import { Meter } from "./meter.tsx";

const CLOCK = timeFormat({ timeStyle: "medium" });

/** Reason phrases of the statuses that these calls can have. */
const REASONS: Readonly<Record<number, string>> = {
  200: "OK",
  201: "Created",
  400: "Bad Request",
  401: "Unauthorized",
  404: "Not Found",
  409: "Conflict",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  429: "Too Many Requests",
  500: "Internal Server Error",
  503: "Service Unavailable",
};

/** A response of the service: status, limit headers, envelope. */
export function Answer({ answer, units }: { answer: CallAnswer; units: string }) {
  const { status, tookMs, limit, retryAfter, body } = answer;
  const tone = status < 300 ? "good" : status < 500 ? "warn" : "bad";
  return (
    <div class={css.answer}>
      <p class={css.status} role="status">
        <Badge tone={tone}>
          {status} {REASONS[status] ?? ""}
        </Badge>
        <span>{inWords(answer)}</span>
        <span class={css.quiet}>{Math.round(tookMs)} ms</span>
      </p>
      {limit ? (
        <>
          <Meter label={`Limit: ${units}`} state={limit} />
          <dl class={css.headers}>
            <Header name="X-RateLimit-Limit" value={limit.limit} />
            <Header name="X-RateLimit-Remaining" value={limit.remaining} />
            <div>
              <dt>X-RateLimit-Reset</dt>
              <dd>
                <time dateTime={new Date(limit.resetAt * 1000).toISOString()} title={`${limit.resetAt} (Unix seconds)`}>
                  {CLOCK(limit.resetAt * 1000)}
                </time>
              </dd>
            </div>
            {retryAfter === null ? null : <Header name="Retry-After" value={retryAfter} />}
          </dl>
        </>
      ) : null}
      <details class={css.body} open>
        <summary>Body</summary>
        <ScrollBox label="Response body">
          <pre>{typeof body === "string" ? body : JSON.stringify(body, null, 2)}</pre>
        </ScrollBox>
      </details>
    </div>
  );
}

function Header({ name, value }: { name: string; value: number }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function inWords(answer: CallAnswer): string {
  const accepted = member(answer.body, "data", "accepted");
  if (typeof accepted === "number") {
    const rejected = member(answer.body, "data", "rejectedCount");
    const refused = typeof rejected === "number" && rejected > 0 ? `, ${rejected} rejected` : "";
    const known = member(answer.body, "data", "duplicate") === true ? ": duplicate, stored once" : "";
    return `${accepted} stored${refused}${known}`;
  }
  return errorCode(answer) ?? "";
}
