/**
 * Replaces storage that the browser refuses, such as with all cookies blocked, by one that lasts until the page is left. Without it, no
 * page of the console would open.
 */
export function replaceRefusedStorage(): void {
  for (const name of ["localStorage", "sessionStorage"] as const) {
    try {
      // The property throws, or is `null` in a web view without storage.
      window[name].getItem("");
    } catch {
      const values = new Map<string, string>();
      const value = {
        getItem: (key: string) => values.get(key) ?? null,
        setItem: (key: string, text: string) => void values.set(key, text),
        removeItem: (key: string) => void values.delete(key),
      };
      Object.defineProperty(window, name, { value });
    }
  }
}
