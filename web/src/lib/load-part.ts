/** Loads of files that succeeded or are in progress, by path below the base. */
const loads = new Map<string, Promise<void>>();

/**
 * Loads a part of the console: the build writes this call around each `import()`. The files are in the browser's cache before they are
 * imported, because an import that fails cannot be repeated: Firefox and Chromium keep the failure of a module until the tab is reloaded,
 * WebKit until its file is requested for another purpose.
 * @param files the part's own file and all files that it needs
 * @returns nothing if a file is missing and `vite:preloadError` was handled
 */
export async function loadPart<T>(importing: () => Promise<T>, files: readonly string[] = []): Promise<T | undefined> {
  try {
    await Promise.all(files.map(loadOnce));
    return await importing();
  } catch (error) {
    if (dispatchEvent(new Event("vite:preloadError", { cancelable: true }))) throw error;
    return undefined;
  }
}

function loadOnce(file: string): Promise<void> {
  const known = loads.get(file);
  if (known !== undefined) return known;
  const url = import.meta.env.BASE_URL + file;
  const load = file.endsWith(".css") ? loadStyle(url) : loadIntoCache(url);
  loads.set(file, load);
  load.catch(() => loads.delete(file));
  return load;
}

/** Not by a link: browsers keep the failure of `modulepreload` as that of an import, and use that of `preload` again. */
async function loadIntoCache(url: string): Promise<void> {
  const response = await fetch(url, { credentials: "same-origin" });
  if (!response.ok) throw new Error(`${url} is missing.`);
  // Only a response that was read to its end is in the cache.
  await response.arrayBuffer();
}

function loadStyle(url: string): Promise<void> {
  if (document.querySelector(`link[rel=stylesheet][href="${url}"]`) !== null) return Promise.resolve();
  const link = document.createElement("link");
  link.rel = "stylesheet";
  link.crossOrigin = "";
  link.href = url;
  return new Promise((resolve, reject) => {
    link.addEventListener("load", () => resolve());
    link.addEventListener("error", () => {
      link.remove();
      reject(new Error(`${url} could not be loaded.`));
    });
    document.head.append(link);
  });
}
