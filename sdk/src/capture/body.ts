import type { Redactor } from "../redact.ts";
import { maskedJson, maskedPairs } from "./masked.ts";

const TEXT = /^text\/|[/+](?:json|xml|x-ndjson|x-www-form-urlencoded|graphql|javascript)\b/i;

/** Copies the first bytes of a body while it is read. */
export interface BodyTap {
  push(chunk: unknown): void;
  /** Bytes of the body so far. */
  readonly bytes: number;
  /** Returns the members of `data` that show the body; `{}` for an empty body. */
  shown(redactor: Redactor): { body?: unknown; bodyTruncated?: true };
}

/** Whether a body can be shown: text without a content encoding. */
export function isText(contentType: string | null | undefined, encoding: string | null | undefined): boolean {
  return TEXT.test(contentType ?? "") && (!encoding || encoding === "identity");
}

export function createBodyTap(contentType: string | null | undefined, max: number): BodyTap {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  let kept = 0;
  return {
    push(chunk) {
      const data = typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk;
      if (!(data instanceof Uint8Array)) return;
      bytes += data.length;
      if (kept === max) return;
      // Copied, because the owner of the chunk may reuse its memory.
      const part = data.slice(0, max - kept);
      kept += part.length;
      chunks.push(part);
    },
    get bytes() {
      return bytes;
    },
    shown(redactor) {
      if (bytes === 0) return {};
      const decoder = new TextDecoder();
      // With `stream` the decoder drops a character that the limit cut in two.
      const text = chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("");
      if (bytes > kept) return { body: maskedText(text, redactor), bodyTruncated: true };
      return { body: parsed(text, contentType ?? "", redactor) };
    },
  };
}

function parsed(text: string, contentType: string, redactor: Redactor): unknown {
  if (/[/+]json\b/i.test(contentType)) {
    try {
      return maskedJson(JSON.parse(text), redactor);
    } catch {
      // Malformed JSON is shown as text.
    }
  }
  if (/form-urlencoded/i.test(contentType)) return maskedPairs(new URLSearchParams(text), redactor);
  return maskedText(text, redactor);
}

function maskedText(text: string, [, , masked]: Redactor): string {
  return masked(text);
}
