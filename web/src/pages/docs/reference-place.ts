import { useEffect, useState } from "preact/hooks";

export interface ReferenceOperation {
  id: string;
  method: string;
  path: string;
  summary: string;
  /** Id of its element in the reference. */
  anchor: string;
}

export interface ReferenceGroup {
  name: string;
  operations: readonly ReferenceOperation[];
  anchor: string;
}

/** The reference as `scripts/docs/reference.js` has drawn it. */
export interface ReferenceHandle {
  groups: readonly ReferenceGroup[];
  isOpen(group: string): boolean;
  open(group: string, operation?: string): void;
  onChange(listener: () => void): () => void;
}

/** A group of the reference, or an operation in it. */
export interface Place {
  group: string;
  operation?: string | undefined;
}

export function nameOf(place: Place | null): string {
  return place === null ? "" : `${place.group}/${place.operation ?? ""}`;
}

/** Pixels below the place that a part is scrolled to, within which it is the present one. Less than the lowest part is high. */
const TOLERANCE = 24;

/** Returns the group or operation at the top of the window, and follows the scroll position. */
export function usePresent(reference: ReferenceHandle, root: { readonly current: HTMLElement | null }): Place | null {
  const [present, setPresent] = useState<Place | null>(null);
  useEffect(() => {
    const places = new Map<string, Place>();
    for (const { name: group, anchor, operations } of reference.groups) {
      places.set(anchor, { group });
      for (const { id, anchor } of operations) places.set(anchor, { group, operation: id });
    }
    let frame = 0;
    const find = (): void => {
      frame = 0;
      let at: Place | null = null;
      const parts = root.current?.querySelectorAll(".opblock-tag, .opblock") ?? [];
      const line =
        parts[0] === undefined ? 0 : Number.parseFloat(getComputedStyle(parts[0]).scrollMarginTop) + TOLERANCE;
      for (const element of parts) {
        if (element.getBoundingClientRect().top > line) break;
        at = places.get(element.id) ?? at;
      }
      setPresent((before) => (nameOf(before) === nameOf(at) ? before : at));
    };
    const later = (): void => {
      frame ||= requestAnimationFrame(find);
    };
    const unlisten = reference.onChange(later);
    addEventListener("scroll", later, { passive: true });
    addEventListener("resize", later);
    later();
    return () => {
      unlisten();
      removeEventListener("scroll", later);
      removeEventListener("resize", later);
      cancelAnimationFrame(frame);
    };
  }, [reference]);
  return present;
}

/**
 * Opens what the address names when it changes, as by the back button.
 * @returns a function that opens a place and scrolls to it
 */
export function useHash(reference: ReferenceHandle): (place: Place) => void {
  const show = (place: Place, isFocused: boolean): void => {
    const group = reference.groups.find(({ name }) => name === place.group);
    const operation = group?.operations.find(({ id }) => id === place.operation);
    if (group === undefined) return;
    reference.open(group.name, operation?.id);
    scrollToPart(operation?.anchor ?? group.anchor, isFocused && operation !== undefined);
  };
  useEffect(() => {
    const changed = (): void => {
      const place = placeIn(location.hash);
      if (place !== null) show(place, false);
    };
    // An operation that the page was opened with is below the header.
    changed();
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, [reference]);
  return (place) => show(place, true);
}

function placeIn(hash: string): Place | null {
  try {
    const [group, operation] = hash.replace(/^#\/?/, "").split("/").map(decodeURIComponent);
    return group ? { group, operation } : null;
  } catch {
    // A `%` of another kind of address.
    return null;
  }
}

/** Frames in which a part may be drawn and filled: the last one is as long as the page below it, so it cannot be at the top before. */
const FRAMES = 90;

/** Ends an older scroll. */
let latest = 0;

/** Scrolls to a part that is being opened, until the user scrolls, and focuses its button. */
function scrollToPart(anchor: string, isFocused: boolean): void {
  latest += 1;
  const own = latest;
  const stop = new AbortController();
  for (const type of ["wheel", "touchstart", "keydown", "pointerdown"]) {
    addEventListener(type, () => stop.abort(), { signal: stop.signal, passive: true });
  }
  let left = FRAMES;
  let hasFocus = !isFocused;
  const step = (): void => {
    const part = document.getElementById(anchor);
    if (own !== latest || left === 0 || stop.signal.aborted) {
      stop.abort();
      return;
    }
    left -= 1;
    part?.scrollIntoView({ block: "start" });
    const button = hasFocus ? null : part?.querySelector("button");
    if (button) {
      button.focus({ preventScroll: true });
      hasFocus = true;
    }
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}
