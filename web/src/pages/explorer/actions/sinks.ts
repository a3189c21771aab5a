import type { Sink } from "./download.ts";

/** The used part of the File System Access API, which some browsers lack. */
interface SavePicker {
  showSaveFilePicker?: (options: { suggestedName: string }) => Promise<FileSystemFileHandle>;
}

/** Milliseconds after which the object URL of a downloaded file is revoked. */
const KEEP_ADDRESS_MS = 60_000;

/**
 * Opens a file that the user chooses, written as entries arrive. A browser without this API gets a file in memory,
 * downloaded at the end. Requires a user gesture.
 * @returns `null` if the user cancelled the choice
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
  return { write: (data) => file.write(data), close: () => file.close(), discard: () => file.abort() };
}

/** Collects blobs, which a browser may keep on disk, instead of one text in memory. */
function memorySink(name: string): Sink {
  let parts: Blob[] = [];
  return {
    async write(data) {
      parts.push(new Blob([data]));
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
