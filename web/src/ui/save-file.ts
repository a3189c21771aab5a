/** Saves a text as a file of the reader's machine. */
export function saveFile(name: string, type: string, text: string): void {
  saveBlob(name, new Blob([text], { type: `${type};charset=utf-8` }));
}

/** Saves a blob as a file of the reader's machine. */
export function saveBlob(name: string, blob: Blob): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser has opened the file once the click is handled.
  setTimeout(() => URL.revokeObjectURL(url), 0);
}
