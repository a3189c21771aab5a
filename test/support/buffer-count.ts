import { syncBuiltinESMExports } from "node:module";
import zlib from "node:zlib";

/** Bytes of ArrayBuffers. */
export interface BufferCount {
  /** All that were made. */
  made: number;
  /** Not freed at the end by `detachBuffer`: what the result holds, and garbage. */
  left: number;
  /** Most that were not freed at a time: an upper bound of the memory, whenever garbage is collected. */
  peak: number;
}

const CLASSES = ["Uint8Array", "Int8Array", "Int32Array", "Uint32Array", "Uint16Array", "Float64Array"] as const;
const ZLIB = ["zstdCompressSync", "zstdDecompressSync"] as const;

/**
 * Runs code and counts the ArrayBuffers that it makes through typed arrays, `Buffer.concat` and zstd. V8 collects
 * unreachable ArrayBuffers only after 64 MiB of them, so code that makes large ones frees them. Not for code that waits:
 * it replaces globals meanwhile.
 */
export function countBuffers<T>(run: () => T): { result: T; count: BufferCount } {
  const count: BufferCount = { made: 0, left: 0, peak: 0 };
  const known = new WeakSet<ArrayBufferLike>();
  const add = <V extends ArrayBufferView>(view: V): V => {
    const { buffer } = view;
    if (known.has(buffer) || buffer.byteLength === 0) return view;
    known.add(buffer);
    count.made += buffer.byteLength;
    count.left += buffer.byteLength;
    count.peak = Math.max(count.peak, count.left);
    return view;
  };
  const undo: (() => void)[] = [];
  const replace = (holder: object, name: string, value: unknown) => {
    const before = Object.getOwnPropertyDescriptor(holder, name);
    Object.defineProperty(holder, name, { ...before, value });
    undo.push(() => Object.defineProperty(holder, name, before ?? {}));
  };
  for (const name of CLASSES) {
    const original = globalThis[name];
    const counting: typeof original = new Proxy(original, {
      construct(target, args, newTarget) {
        const made = Reflect.construct(target, args, newTarget === counting ? target : newTarget);
        return args[0] instanceof ArrayBuffer ? made : add(made);
      },
    });
    replace(globalThis, name, counting);
    // `slice` and `map` make an array of this class.
    replace(original.prototype, "constructor", counting);
  }
  const { transfer } = ArrayBuffer.prototype;
  replace(ArrayBuffer.prototype, "transfer", function (this: ArrayBuffer, length?: number) {
    if (known.delete(this)) count.left -= this.byteLength;
    return transfer.call(this, length);
  });
  const { concat } = Buffer;
  replace(Buffer, "concat", (...args: Parameters<typeof concat>) => add(concat(...args)));
  for (const name of ZLIB) {
    const original: (bytes: Uint8Array, options?: object) => Uint8Array = zlib[name];
    // The runtime's results have buffers of their own; those of Node may be parts of larger ones.
    replace(zlib, name, (bytes: Uint8Array, options?: object) => add(new Uint8Array(original(bytes, options))));
  }
  syncBuiltinESMExports();
  try {
    return { result: run(), count };
  } finally {
    for (const step of undo.reverse()) step();
    syncBuiltinESMExports();
  }
}
