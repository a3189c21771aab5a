import type { LevelScale } from "./levels.ts";
import type { TimeUnit } from "./times.ts";

/** The names that clients use, the preferred ones first. */
export const USUAL = {
  message: [
    ...["message", "msg", "@message", "_msg", "@m", "short_message", "MESSAGE", "Message", "log", "line", "body"],
    ...["event", "text", "content", "@mt"],
  ],
  time: [
    ...["@timestamp", "timestamp", "time", "ts", "date", "datetime", "_time", "@t", "Timestamp", "Datetime"],
    ...["eventTime", "timeMillis", "EventTimestampMs", "EdgeStartTimestamp", "time_unix_nano", "timeUnixNano"],
  ],
  level: [
    ...["level", "severity", "lvl", "log.level", "loglevel", "logLevel", "log_level", "@l", "Level", "levelname"],
    ...["severity_text", "severityText", "levelno", "severity_number", "severityNumber", "PRIORITY", "priority"],
  ],
  service: [
    ...["service.name", "service", "service_name", "serviceName", "dd.service", "app", "app_name", "application"],
    ...["kubernetes.container_name"],
  ],
  host: ["host.name", "hostname", "host", "hostName", "host_name", "HOSTNAME", "host.hostname", "kubernetes.host"],
  traceId: ["traceId", "trace_id", "trace.id", "traceID", "TraceId", "dd.trace_id"],
  spanId: ["spanId", "span_id", "span.id", "spanID", "SpanId", "dd.span_id"],
  session: ["session", "sessionId", "session_id"],
  category: ["category"],
  type: ["type"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export const SCALES: Readonly<Record<string, LevelScale>> = {
  PRIORITY: "syslog",
  levelno: "python",
  severity_number: "otlp",
  severityNumber: "otlp",
};
export const UNITS: Readonly<Record<string, TimeUnit>> = { time_unix_nano: "ns", timeUnixNano: "ns" };
