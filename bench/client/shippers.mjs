/**
 * The clients, each configured to send over HTTP as its documentation describes, with its defaults. Plain JavaScript,
 * because they are installed next to this file only. `how` names the way; each has `log(message, data)` and `flush()`.
 */
export const SHIPPERS = {
  taffrail: {
    how: "taffrail/node",
    async ship(url) {
      const { createLogger } = await import("taffrail/node");
      const logger = createLogger({ apiUrl: url, projectId: "proj_bench", apiKey: "sk_bench" });
      return { log: logger.info, flush: () => logger.flush() };
    },
  },
  pino: {
    how: "pino-loki 3.0, of pino's list of transports, in its worker thread; pino's flush() goes as far as that",
    async ship(url) {
      const { default: pino } = await import("pino");
      const logger = pino(pino.transport({ target: "pino-loki", options: { host: url, silenceErrors: true } }));
      return { log: (m, data) => logger.info(data, m), flush: () => new Promise((done) => logger.flush(done)) };
    },
  },
  winston: {
    how: "its Http transport with `batch: true`",
    async ship(url) {
      const { default: winston } = await import("winston");
      const { hostname: host, port } = new URL(url);
      const transport = new winston.transports.Http({ host, port: Number(port), path: "/", batch: true });
      const logger = winston.createLogger({ transports: [transport] });
      transport.on("warn", () => {});
      return {
        log: (m, data) => logger.info(m, data),
        flush: () =>
          new Promise((done) => {
            logger.on("finish", done);
            logger.end();
          }),
      };
    },
  },
  logtape: {
    how: "`fromAsyncSink` with `fetch`, the example of its documentation",
    async ship(url) {
      const { configure, fromAsyncSink, getLogger } = await import("@logtape/logtape");
      const http = fromAsyncSink(async (record) => {
        await fetch(url, { method: "POST", body: JSON.stringify(record) });
      });
      await configure({
        sinks: { http },
        loggers: [
          { category: "bench", sinks: ["http"], lowestLevel: "info" },
          { category: ["logtape", "meta"], lowestLevel: "fatal", sinks: [] },
        ],
      });
      const logger = getLogger("bench");
      return { log: (m, data) => logger.info(m, data), flush: () => http.drain() };
    },
  },
  loglayer: {
    how: "@loglayer/transport-http 2.4; it has no flush",
    async ship(url) {
      const { LogLayer } = await import("loglayer");
      const { HttpTransport } = await import("@loglayer/transport-http");
      const payloadTemplate = ({ logLevel, message, data }) => JSON.stringify({ level: logLevel, message, data });
      const logger = new LogLayer({ transport: new HttpTransport({ url, payloadTemplate, onError() {} }) });
      return { log: (m, data) => logger.withMetadata(data).info(m) };
    },
  },
  consola: {
    how: null,
    none: "it writes to the console only, and its documentation shows no reporter that sends",
  },
  axiom: {
    how: "@axiomhq/logging with AxiomJSTransport",
    async ship(url) {
      const { Axiom } = await import("@axiomhq/js");
      const { AxiomJSTransport, Logger } = await import("@axiomhq/logging");
      const axiom = new Axiom({ token: "xaat-bench", url, onError() {} });
      const logger = new Logger({ transports: [new AxiomJSTransport({ axiom, dataset: "bench" })] });
      return { log: (m, data) => logger.info(m, data), flush: () => logger.flush() };
    },
  },
  logtail: {
    how: "@logtail/node with `endpoint`",
    async ship(url) {
      const { Logtail } = await import("@logtail/node");
      const logger = new Logtail("token", { endpoint: url });
      // Calls return promises. An application that does not await them must not end by a rejection.
      return { log: (m, data) => void logger.info(m, data).catch(() => {}), flush: () => logger.flush() };
    },
  },
  opentelemetry: {
    how: "BatchLogRecordProcessor with the OTLP/HTTP exporter 0.301",
    async ship(url) {
      const { BatchLogRecordProcessor, LoggerProvider } = await import("@opentelemetry/sdk-logs");
      const { OTLPLogExporter } = await import("@opentelemetry/exporter-logs-otlp-http");
      const exporter = new OTLPLogExporter({ url: `${url}/v1/logs` });
      const provider = new LoggerProvider({ processors: [new BatchLogRecordProcessor({ exporter })] });
      const logger = provider.getLogger("bench");
      return {
        log: (body, attributes) => logger.emit({ severityNumber: 9, body, attributes }),
        flush: () => provider.forceFlush(),
      };
    },
  },
  evlog: {
    how: "createDrainPipeline with createHttpDrain",
    async ship(url) {
      const { initLogger, log } = await import("evlog");
      const { createHttpDrain } = await import("evlog/http");
      const { createDrainPipeline } = await import("evlog/pipeline");
      const drain = createDrainPipeline({ onDropped() {} })(createHttpDrain({ endpoint: url }));
      initLogger({ silent: true, pretty: false, drain });
      return { log: (message, data) => log.info({ message, ...data }), flush: () => drain.flush() };
    },
  },
};
