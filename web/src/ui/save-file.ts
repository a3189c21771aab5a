/** Saves a text as a file of the reader's machine. */
export function saveFile(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser has opened the file once the click is handled.
  setTimeout(() => URL.revokeObjectURL(url), 0);
}
