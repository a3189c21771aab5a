import { useRef } from "preact/hooks";
import type { Loaded } from "../../lib/load.ts";

/**
 * Returns loaded data, and during a refresh and after a failed one the previous data.
 * @param of what the data is of; data of something else is not kept
 */
export function useKept<T>({ data }: Loaded<T>, of: string): T | null {
  const last = useRef<{ of: string; data: T } | null>(null);
  if (data !== null) last.current = { of, data };
  return last.current?.of === of ? last.current.data : null;
}
