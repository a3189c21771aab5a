/** Resolves colours of the style sheet for the current theme, because a canvas has no access to CSS variables. */
export function colours(host: HTMLElement): (name: string) => string {
  const probe = document.createElement("span");
  // Levels are distinguished by their colours, also with those of the system.
  probe.style.setProperty("forced-color-adjust", "none");
  host.append(probe);
  const read = new Map<string, string>();
  queueMicrotask(() => probe.remove());
  return (name) => {
    const known = read.get(name);
    if (known !== undefined) return known;
    probe.style.color = `var(${name})`;
    const value = getComputedStyle(probe).color;
    read.set(name, value);
    return value;
  };
}
