/** The names that were warned of. */
const warned = /* @__PURE__ */ new Set<string>();

/** A name that is written wrongly would change nothing, and nobody would know why. Told once, however many loggers have it. */
export function checkNames(place: string, given: object | undefined, known: readonly string[]): void {
  for (const name of Object.keys(given ?? {})) {
    const full = place + name;
    if (known.includes(name) || warned.has(full)) continue;
    warned.add(full);
    console.warn(`taffrail: unknown option ${JSON.stringify(full)}; there are ${known.join(", ")}`);
  }
}
