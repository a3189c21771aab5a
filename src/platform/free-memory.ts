/**
 * Frees the memory of bytes at once. They are empty afterwards, and so is every other view of the same buffer, so only the
 * one who owns it may do this. Bytes that are a part of a larger buffer are left alone.
 *
 * V8 does not count ArrayBuffers as heap: it lets 64 MiB of dead ones gather before it collects them, in an isolate that has
 * 128 MB for everything. Where large buffers are made one after the other, each is freed before the next.
 */
export function detachBuffer(bytes: Uint8Array): void {
  const { buffer } = bytes;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength) buffer.transfer(0);
}
