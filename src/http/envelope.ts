import { ERROR_STATUS, type Refusal } from "./errors.ts";

/** Builds the body of every JSON response: `{success, data, error, meta}`. */
export function successBody(data: unknown, requestId: string): string {
  const [before, behind] = successEnds(requestId);
  return before + JSON.stringify(data ?? null) + behind;
}

/** Text before and after the data of a successful response. */
export function successEnds(requestId: string): [before: string, behind: string] {
  return ['{"success":true,"data":', `,"error":null,"meta":${meta(requestId)}}`];
}

export function failureBody(refusal: Refusal, requestId: string): string {
  const { code, message, details } = refusal;
  const error = details && details.length > 0 ? { code, message, details } : { code, message };
  return `{"success":false,"data":null,"error":${JSON.stringify(error)},"meta":${meta(requestId)}}`;
}

export function success(data: unknown, requestId: string, status: 200 | 201 = 200): Response {
  return new Response(successBody(data, requestId), { status, headers: { "Content-Type": "application/json" } });
}

export function failure(refusal: Refusal, requestId: string): Response {
  const status = ERROR_STATUS[refusal.code];
  const headers = new Headers({ "Content-Type": "application/json", ...refusal.headers });
  if (status === 401 && !headers.has("WWW-Authenticate")) {
    headers.set("WWW-Authenticate", `Bearer realm="taffrail", error="${challenge(refusal)}"`);
  }
  return new Response(failureBody(refusal, requestId), { status, headers });
}

function meta(requestId: string): string {
  return `{"timestamp":"${new Date().toISOString()}","requestId":${JSON.stringify(requestId)}}`;
}

/** RFC 6750 section 3.1 defines three values; a missing credential is `invalid_request`. */
function challenge(refusal: Refusal): string {
  return refusal.code === "UNAUTHORIZED" ? "invalid_request" : "invalid_token";
}

/** Bytes from which a response is written as its client reads it; a shorter one is built at once. */
const CHUNK_BYTES = 64 * 1024;

/** Milliseconds in which a client must read a chunk, because unread chunks hold memory that others wait for. */
const PATIENCE_MS = 15_000;

/** Callbacks of a response that is being sent. */
export interface SendingPorts {
  /** The client has asked for another part. */
  onProgress(): void;
  /** The whole response was passed to the runtime, or the client has stopped reading. */
  ended(): void;
}

/**
 * Builds a successful response whose data is JSON in parts, each the bytes of UTF-8, one character a byte. The whole is
 * never in memory: a client that reads slowly holds the source of the parts, and one chunk.
 */
export function streamedSuccess(data: Iterator<string>, requestId: string, ports: SendingPorts): Response {
  return streamed(chunksOf(data, successEnds(requestId)), ports);
}

/** Like `streamedSuccess`, without an envelope: the data is the whole body. */
export function streamedJson(data: Iterator<string>, _requestId: string, ports: SendingPorts): Response {
  return streamed(chunksOf(data, ["", ""]), ports);
}

function streamed(chunks: Generator<Uint8Array, undefined>, ports: SendingPorts): Response {
  const headers = { "Content-Type": "application/json" };
  const first = chunks.next();
  const second = chunks.next();
  if (second.done) {
    ports.ended();
    return new Response(first.value, { headers });
  }
  const waiting = [first.value, second.value];
  let stalled: ReturnType<typeof setTimeout> | undefined;
  const end = () => {
    clearTimeout(stalled);
    ports.ended();
  };
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      clearTimeout(stalled);
      ports.onProgress();
      const chunk = waiting.shift() ?? chunks.next().value;
      if (!chunk) {
        controller.close();
        return end();
      }
      controller.enqueue(chunk);
      stalled = setTimeout(() => {
        controller.error(new Error("The client does not read its response."));
        ports.ended();
      }, PATIENCE_MS);
    },
    cancel: end,
  });
  return new Response(body, { headers });
}

function* chunksOf(
  data: Iterator<string>,
  [before, behind]: readonly [before: string, behind: string],
): Generator<Uint8Array, undefined> {
  let texts = [Buffer.from(before).toString("latin1")];
  let bytes = 0;
  for (let next = data.next(); !next.done; next = data.next()) {
    texts.push(next.value);
    bytes += next.value.length;
    if (bytes < CHUNK_BYTES) continue;
    yield Buffer.from(texts.join(""), "latin1");
    texts = [];
    bytes = 0;
  }
  yield Buffer.from(texts.join("") + Buffer.from(behind).toString("latin1"), "latin1");
}
