import type { Sink } from "./download.ts";

/** The part of the File System Access API that is used; some browsers have none of it. */
interface SavePicker {
  showSaveFilePicker?: (options: { suggestedName: string }) => Promise<FileSystemFileHandle>;
}

/** Milliseconds after which a file that was handed to the browser needs its address no more. */
const KEEP_ADDRESS_MS = 60_000;

/**
 * A file that somebody chose, written as the entries come; elsewhere one in memory that the browser then downloads.
 * Has to be called from a click. @returns null where the choice was called off
 */
export async function openSink(name: string): Promise<Sink | null> {
  // SAFETY: every member is optional.
  const { showSaveFilePicker } = globalThis as unknown as SavePicker;
  if (showSaveFilePicker === undefined) return memorySink(name);
  try {
    return fileSink(await (await showSaveFilePicker({ suggestedName: name })).createWritable());
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") return null;
    return memorySink(name);
  }
}

function fileSink(file: FileSystemWritableFileStream): Sink {
  return { write: (text) => file.write(text), close: () => file.close(), discard: () => file.abort() };
}

/** Parts as blobs, which a browser may put on disk, rather than one text in memory. */
function memorySink(name: string): Sink {
  let parts: Blob[] = [];
  return {
    async write(text) {
      parts.push(new Blob([text]));
    },
    async close() {
      const address = URL.createObjectURL(new Blob(parts, { type: "application/x-ndjson" }));
      const link = document.createElement("a");
      link.href = address;
      link.download = name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(address), KEEP_ADDRESS_MS);
    },
    async discard() {
      parts = [];
    },
  };
}
