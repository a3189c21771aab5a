/**
 * Stores a choice or a convenience in this browser; `null` removes it. A full storage refuses it, which is not worth a
 * message: a choice then lasts until the page is left.
 */
export function keep(key: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // See above.
  }
}
