import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { type Duplex, pipeline } from "node:stream";

/** Path of the script and of the faults that it sends. The service has no such path. */
const PATH = "/recorder.js";

/** Sends each fault at once, so that it counts also if its document is left. */
const SCRIPT = `{
  const record = (fault) => navigator.sendBeacon("${PATH}", location.pathname + ": " + fault);
  addEventListener("error", ({ message }) => message && record("uncaught: " + message));
  addEventListener("unhandledrejection", ({ reason }) => record("unhandled: " + reason));
  addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) => record("refused: " + violatedDirective + " " + blockedURI));
  const { error } = console;
  console.error = (...values) => {
    record("console: " + values.join(" "));
    error.apply(console, values);
  };
}`;
/** Documents whose policy allows scripts of their origin get the script. */
const ALLOWS_SCRIPT = "script-src 'self'";

/** Between the browser and the service: records the faults of all documents, from the start of each to its end. */
export interface Recorder {
  /** Faults since the last call: uncaught errors, violations of the content security policy and errors on the console. */
  take(): string[];
  /** Whether the service is away: connections end without a response, those of tails at once. */
  setAway(isAway: boolean): void;
  close(): void;
}

/**
 * Passes everything to the service unchanged, except that documents begin with the script.
 * @param port where the browser finds the service
 * @param target port of the service, whose BASE_URL is that of `port`
 */
export async function startRecorder(port: number, target: number): Promise<Recorder> {
  const faults: string[] = [];
  let isAway = false;
  const server = createServer((asked, answer) => {
    if (asked.url !== PATH) {
      if (isAway) asked.socket.destroy();
      else pass(asked, answer, target);
    } else if (asked.method === "POST") void receive(asked, answer, faults);
    else answer.setHeader("Content-Type", "text/javascript").end(SCRIPT);
  });
  const tails = new Set<Duplex>();
  server.on("upgrade", (asked, socket, head) => {
    if (isAway) return socket.destroy();
    tails.add(socket);
    const service = connect(target, "127.0.0.1", () => {
      service.write(`${asked.method} ${asked.url} HTTP/1.1\r\n${headOf(asked)}\r\n\r\n`);
      service.write(head);
    });
    pipeline(service, socket, service, () => tails.delete(socket));
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  const setAway = (next: boolean): void => {
    isAway = next;
    if (isAway) for (const tail of tails) tail.destroy();
  };
  return { take: () => faults.splice(0), setAway, close };
}

async function receive(asked: IncomingMessage, answer: ServerResponse, faults: string[]): Promise<void> {
  faults.push((await asked.setEncoding("utf8").toArray()).join(""));
  answer.writeHead(204).end();
}

function headOf({ rawHeaders }: IncomingMessage): string {
  return rawHeaders
    .map((part, at) => (at % 2 === 0 ? `${part}: ${rawHeaders[at + 1]}` : null))
    .filter((line) => line !== null)
    .join("\r\n");
}

function pass(asked: IncomingMessage, answer: ServerResponse, port: number): void {
  const { method, url, headers } = asked;
  const isDocument = headers.accept?.includes("text/html") === true;
  // A compressed document cannot take the script.
  const sent = isDocument ? { ...headers, "accept-encoding": "identity" } : headers;
  const service = request({ host: "127.0.0.1", port, method, path: url, headers: sent }, (received) => {
    const policy = received.headers["content-security-policy"];
    if (isDocument && policy?.includes(ALLOWS_SCRIPT)) void respondWithScript(received, answer);
    else {
      answer.writeHead(received.statusCode ?? 502, received.rawHeaders);
      pipeline(received, answer, () => undefined);
    }
  });
  service.on("error", () => answer.destroy());
  answer.on("close", () => service.destroy());
  asked.pipe(service);
}

async function respondWithScript(received: IncomingMessage, answer: ServerResponse): Promise<void> {
  const html = (await received.setEncoding("utf8").toArray()).join("");
  const { "content-length": _, "transfer-encoding": __, ...headers } = received.headers;
  answer
    .writeHead(received.statusCode ?? 502, headers)
    .end(html.replace("<head>", `$&<script src="${PATH}"></script>`));
}
