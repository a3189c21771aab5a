/**
 * Requests of Grafana's Loki data source (13.1.0) and of Logs Drilldown (2.5.1), as recorded while their code ran against a server: which panel
 * sends which path and parameters. `start`, `end` and `time` are added as nanoseconds by the test, as Grafana does.
 */
export interface GrafanaRequest {
  panel: string;
  path: string;
  params: Readonly<Record<string, string>>;
  /** Value of `X-Query-Tags`. */
  source?: string;
  /** Times are RFC 3339, as Logs Drilldown sends them. */
  hasTextTimes?: true;
  expected:
    | "streams"
    | "matrix"
    | "vector"
    | "scalar"
    | "names"
    | "series"
    | "stats"
    | "fields"
    | "values"
    | "labels"
    | "patterns";
}

const RANGE = "/query_range";
const INSTANT = "/query";
const SHOP = '{service="shop"}';
const LOGS = { direction: "backward", limit: "1000", step: "4000ms" };
const METRIC = { direction: "backward", step: "4000ms" };
/** Instant queries have the limit of lines, too. */
const VECTOR = { direction: "backward", limit: "1000" };
const DRILLDOWN = { source: "grafana-lokiexplore-app", hasTextTimes: true } as const;

const logs = (panel: string, query: string, params: object = {}, source?: string): GrafanaRequest => ({
  ...{ panel, path: RANGE, params: { ...LOGS, query, ...params }, expected: "streams" },
  ...(source === undefined ? {} : { source }),
});
const matrix = (panel: string, query: string, params: object = {}, source?: string): GrafanaRequest => ({
  ...{ panel, path: RANGE, params: { ...METRIC, query, ...params }, expected: "matrix" },
  ...(source === undefined ? {} : { source }),
});
const vector = (panel: string, query: string): GrafanaRequest => ({
  ...{ panel, path: INSTANT, params: { ...VECTOR, query }, expected: "vector" },
});

export const GRAFANA_REQUESTS: readonly GrafanaRequest[] = [
  logs("logs", SHOP, { limit: "200" }),
  logs("logs, oldest first", SHOP, { direction: "forward" }),
  logs("logs by fields", `${SHOP} | json | status >= 400 | line_format "{{.route}} {{.status}}"`),
  logs("logs, a label filter of the log details", `${SHOP} | json | route=\`POST /orders\``),
  logs("logs, without a value of metadata", `${SHOP} | trace_id!=\`x\``),
  logs("logs, the hint for a parser", `${SHOP} | logfmt`),
  logs("logs, ad hoc filters", '{service="shop", host="eu-1", level=~"info|error"}'),
  logs("logs, further ones by scrolling", SHOP, {}, "infinitescroll"),
  logs("logs, a part of a split range", `${SHOP} |= "orders" | json | status=404`, { limit: "937", step: "605000ms" }),
  logs("table of logs", `${SHOP} | json | __error__=""`),
  logs("context, before", '{category="http",host="eu-1",service="shop"}', { limit: "20", step: "7200000ms" }),
  logs("context, after", '{category="http",host="eu-1",service="shop"}', {
    ...{ direction: "forward", limit: "20", step: "7200000ms" },
  }),
  logs("annotations", '{level="error"}', { limit: "10", step: "3600000ms" }),
  logs("sample of the query builder", SHOP, { limit: "10", step: "3600000ms" }, "datasample"),
  logs("logs of a metric", '{service=~".+"} |= "orders"', { limit: "100" }, "logsample"),
  matrix(
    "log volume",
    `sum by (level, detected_level) (count_over_time(${SHOP} | drop __error__[4s]))`,
    {},
    "logvolhist",
  ),
  matrix(
    ...([
      "log volume of stages",
      `sum by (level, detected_level) (count_over_time(${SHOP} | json | status > 300 | drop __error__[4s]))`,
      {},
      "logvolhist",
    ] as const),
  ),
  matrix("time series", 'sum by (service) (rate({level=~"info|error"}[4s]))'),
  matrix("time series of one line", 'sum(rate({service=~".+"}[5m]))'),
  matrix("time series, bytes", 'sum by (level) (bytes_rate({service=~".+"}[4s]))'),
  matrix("time series of numbers", `avg_over_time(${SHOP} | json | unwrap ms [4s]) by (host)`),
  matrix("time series, percentile", `quantile_over_time(0.99, ${SHOP} | json | unwrap ms [5m]) by (service)`),
  matrix("time series, step of the query", 'sum(count_over_time({service=~".+"}[1m]))', { step: "60000ms" }),
  matrix("heatmap", `sum by (ms) (count_over_time(${SHOP} | json | keep ms [4s]))`),
  matrix("state timeline", `max_over_time(${SHOP} | json | unwrap status [5m]) by (host)`),
  matrix("a number over time", "vector(3)"),
  matrix("alert rule with a range", 'sum(count_over_time({level="error"}[5m])) or vector(0)'),
  vector("stat, gauge", 'sum(count_over_time({level="error"}[3600s]))'),
  vector("bar chart, pie chart", 'sum by (service) (count_over_time({level=~".+"}[3600s]))'),
  vector("table", `topk(5, sum by (route) (count_over_time(${SHOP} | json [3600s])))`),
  vector("alert rule", 'sum by (service) (count_over_time({level="error"}[5m])) >= 0'),
  vector("test of the data source", "vector(1)+vector(1)"),
  { panel: "a number", path: INSTANT, params: { ...VECTOR, query: "1+1" }, expected: "scalar" },
  { panel: "label browser", path: "/labels", params: {}, expected: "names" },
  { panel: "label browser, of a selector", path: "/labels", params: { query: SHOP }, expected: "names" },
  { panel: "variable, values of a label", path: "/label/service/values", params: {}, expected: "names" },
  { panel: "variable, of a selector", path: "/label/host/values", params: { query: SHOP }, expected: "names" },
  { panel: "variable, series", path: "/series", params: { "match[]": SHOP }, expected: "series" },
  { panel: "ad hoc filters, names", path: "/series", params: { "match[]": "{}" }, expected: "series" },
  { panel: "size of a query", path: "/index/stats", params: { query: SHOP }, expected: "stats" },
  { panel: "fields", path: "/detected_fields", params: { limit: "1000", query: SHOP }, expected: "fields" },
  {
    ...{ panel: "values of a field", path: "/detected_field/status/values", expected: "values" },
    params: { limit: "10", query: SHOP },
  },
  {
    ...{ panel: "Drilldown, start", path: "/index/volume", ...DRILLDOWN, expected: "vector" },
    params: { limit: "5000", query: '{service=~".+"}' },
  },
  { panel: "Drilldown, labels", path: "/detected_labels", params: { query: "" }, ...DRILLDOWN, expected: "labels" },
  { panel: "Drilldown, fields", path: "/detected_fields", params: { query: SHOP }, ...DRILLDOWN, expected: "fields" },
  {
    panel: "Drilldown, patterns",
    path: "/patterns",
    params: { query: SHOP, step: "10s" },
    ...DRILLDOWN,
    expected: "patterns",
  },
  matrix(
    "Drilldown, a field",
    `sum by (route) (count_over_time(${SHOP} | json | logfmt | drop __error__, __error_details__ | route!="" [1m]))`,
  ),
  matrix(
    "Drilldown, a number",
    `avg by (host) (avg_over_time(${SHOP} | json | drop __error__, __error_details__ | ms!="" | unwrap ms | __error__="" [1m]))`,
  ),
];
