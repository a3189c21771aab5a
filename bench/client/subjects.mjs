/**
 * The clients, each configured to convert a call to what it would send or write, and to discard that. Plain JavaScript,
 * because they are installed next to this file only and the repository's types must not require them.
 */
const sink = { write() {} };
const REDACT = ["password", "*.password", "*.*.password", "token", "*.token", "authorization", "*.*.authorization"];

/** Each has `log(message, data)` at info, and `gated(message, data)` below the level. */
export const SUBJECTS = {
  async taffrail() {
    const { createLogger } = await import("taffrail");
    // The real queue, with a destination that accepts everything immediately.
    globalThis.fetch = async () => new Response('{"data":{"rejected":[]}}', { status: 201 });
    const logger = createLogger({
      apiUrl: "http://127.0.0.1:9",
      projectId: "proj_bench",
      apiKey: "sk_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMN",
      batch: { gzip: false },
    });
    return { log: logger.info, gated: logger.debug, idle: () => logger.flush() };
  },
  async pino() {
    const { default: pino } = await import("pino");
    const logger = pino({}, sink);
    return {
      log: (message, data) => logger.info(data, message),
      gated: (message, data) => logger.debug(data, message),
    };
  },
  async "pino + redact"() {
    const { default: pino } = await import("pino");
    const logger = pino({ redact: REDACT }, sink);
    return {
      log: (message, data) => logger.info(data, message),
      gated: (message, data) => logger.debug(data, message),
    };
  },
  async winston() {
    const { default: winston } = await import("winston");
    const { Writable } = await import("node:stream");
    const stream = new Writable({ write: (_chunk, _encoding, done) => done() });
    const logger = winston.createLogger({ transports: [new winston.transports.Stream({ stream })] });
    return {
      log: (message, data) => logger.info(message, data),
      gated: (message, data) => logger.debug(message, data),
    };
  },
  async logtape() {
    const { configure, getJsonLinesFormatter, getLogger } = await import("@logtape/logtape");
    const format = getJsonLinesFormatter();
    await configure({
      sinks: { none: (record) => void format(record) },
      loggers: [
        { category: "bench", sinks: ["none"], lowestLevel: "info" },
        { category: ["logtape", "meta"], lowestLevel: "error", sinks: ["none"] },
      ],
    });
    const logger = getLogger("bench");
    return {
      log: (message, data) => logger.info(message, data),
      gated: (message, data) => logger.debug(message, data),
    };
  },
  async loglayer() {
    const { LogLayer, StructuredTransport } = await import("loglayer");
    const logger = new LogLayer({
      transport: new StructuredTransport({ logger: { info: (o) => void JSON.stringify(o) }, level: "info" }),
    });
    return {
      log: (message, data) => logger.withMetadata(data).info(message),
      gated: (message, data) => logger.withMetadata(data).debug(message),
    };
  },
  async consola() {
    const { createConsola } = await import("consola");
    const logger = createConsola({ level: 3, reporters: [{ log: (o) => void JSON.stringify(o) }], throttle: 0 });
    return {
      log: (message, data) => logger.info(message, data),
      gated: (message, data) => logger.debug(message, data),
    };
  },
  async axiom() {
    const { Logger } = await import("@axiomhq/logging");
    const transport = { log: (events) => void JSON.stringify(events), flush() {} };
    const logger = new Logger({ transports: [transport], logLevel: "info" });
    return {
      log: (message, data) => logger.info(message, data),
      gated: (message, data) => logger.debug(message, data),
    };
  },
  async logtail() {
    const { Logtail } = await import("@logtail/node");
    const logger = new Logtail("token", {
      sendLogsToConsoleOutput: false,
      batchSize: 1000,
      batchInterval: 1000,
      burstProtectionMax: 1e9,
    });
    logger.setSync(async (logs) => logs);
    return { log: (message, data) => void logger.info(message, data) };
  },
  async opentelemetry() {
    const { LoggerProvider } = await import("@opentelemetry/sdk-logs");
    const processor = { onEmit() {}, forceFlush: async () => {}, shutdown: async () => {}, enabled: () => true };
    const logger = new LoggerProvider({ processors: [processor] }).getLogger("bench");
    return { log: (body, attributes) => logger.emit({ severityNumber: 9, body, attributes }) };
  },
  async evlog() {
    const { initLogger, log } = await import("evlog");
    initLogger({
      silent: true,
      pretty: false,
      minLevel: "info",
      drain: (context) => void JSON.stringify(context.event),
    });
    return {
      log: (message, data) => log.info({ message, ...data }),
      gated: (message, data) => log.debug({ message, ...data }),
    };
  },
};
