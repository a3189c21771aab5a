import { constants, gunzipSync } from "node:zlib";
import { objectOf } from "../../doors/shared/json-records.ts";
import { BodyIncomplete, BodyReader } from "../../http/body-reader.ts";
import { encodingOf } from "../../http/encodings.ts";
import { copyBytes } from "../../platform/bytes.ts";
import { detachBuffer } from "../../platform/isolate-memory.ts";
import type { KeyInBody } from "./door-key.ts";

const LINE_BREAK = 0x0a;
/** Bytes in which the header of an envelope must end. */
const HEADER_BYTES = 8 * 1024;
/** Bytes in which it must end in a compressed body, which inflate to a megabyte at most. */
const COMPRESSED_BYTES = 1024;
const MAX_INFLATION = 1032;

const utf8 = new TextDecoder();

/** Returns the public key of the DSN in the header of a Sentry envelope. SDKs that send through a tunnel have it there only. */
export async function keyOfEnvelope(sent: Request): Promise<KeyInBody> {
  const encoding = encodingOf(sent.headers, ["gzip"]);
  if (sent.body === null || encoding === null) return { text: null, request: sent };
  const isCompressed = encoding === "gzip";
  const reader = new BodyReader(sent.body, () => false);
  const { chunks, isWhole } = await readBeginning(reader, isCompressed);
  const header = headerOf(joined(chunks, isCompressed ? COMPRESSED_BYTES : HEADER_BYTES), isCompressed);
  const { method, headers, url } = sent;
  const body = bodyOf(chunks, isWhole ? null : reader);
  return { text: keyOfDsn(objectOf(header)?.dsn), request: new Request(url, { method, headers, body }) };
}

interface Beginning {
  chunks: Uint8Array[];
  /** Whether the body has ended. */
  isWhole: boolean;
}

/** Reads until the header has ended, or should have. */
async function readBeginning(reader: BodyReader, isCompressed: boolean): Promise<Beginning> {
  const chunks: Uint8Array[] = [];
  for (let length = 0; length < (isCompressed ? COMPRESSED_BYTES : HEADER_BYTES); ) {
    const chunk = await reader.next().catch((error: unknown) => {
      if (error instanceof BodyIncomplete) return error;
      throw error;
    });
    if (chunk === null) return { chunks, isWhole: true };
    // The reader of the whole body fails then, too.
    if (chunk instanceof BodyIncomplete) break;
    chunks.push(chunk);
    length += chunk.length;
    if (!isCompressed && chunk.includes(LINE_BREAK)) break;
  }
  return { chunks, isWhole: false };
}

function joined(chunks: readonly Uint8Array[], limit: number): Uint8Array {
  const bytes = new Uint8Array(limit);
  let length = 0;
  for (const chunk of chunks) length = copyBytes(bytes, length, chunk, 0, Math.min(chunk.length, limit - length));
  return bytes.subarray(0, length);
}

/** Returns the first line. @param bytes are freed */
function headerOf(bytes: Uint8Array, isCompressed: boolean): string {
  const plain = isCompressed ? inflatedBeginning(bytes) : bytes;
  const end = plain.indexOf(LINE_BREAK);
  const header = utf8.decode(plain.subarray(0, end < 0 ? plain.length : end));
  detachBuffer(plain);
  detachBuffer(bytes);
  return header;
}

function inflatedBeginning(bytes: Uint8Array): Uint8Array {
  try {
    const maxOutputLength = COMPRESSED_BYTES * MAX_INFLATION;
    return gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength });
  } catch {
    return new Uint8Array();
  }
}

function keyOfDsn(dsn: unknown): string | null {
  return typeof dsn === "string" && URL.canParse(dsn) ? new URL(dsn).username || null : null;
}

/** @param reader of what follows the chunks; `null` if they are the whole */
function bodyOf(chunks: readonly Uint8Array[], reader: BodyReader | null): ReadableStream<Uint8Array> {
  const first = [...chunks];
  return new ReadableStream({
    async pull(controller) {
      const chunk = first.shift() ?? (await reader?.next()) ?? null;
      if (chunk === null) controller.close();
      else controller.enqueue(chunk);
    },
    cancel: () => reader?.close(),
  });
}
