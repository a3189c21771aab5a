import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

/** Something that the command palette offers. */
export interface Command {
  /** Distinguishes commands with the same label. */
  id?: string;
  label: string;
  /** Other words that find it, which are not shown. */
  words?: string;
  /** Heading of the list. */
  group: string;
  /** Key that does the same. */
  shortcut?: string;
  /** Whether it is one of many alike, which are listed only once a text is typed. */
  needsText?: boolean;
  run: () => void;
}

type Source = () => readonly Command[];

const sources = signal<readonly Source[]>([]);

/** Offers commands in the palette while the component is in the page. */
export function useCommands(commands: Source): void {
  const latest = useRef(commands);
  latest.current = commands;
  useEffect(() => {
    const source: Source = () => latest.current();
    sources.value = [...sources.peek(), source];
    return () => {
      sources.value = sources.peek().filter((other) => other !== source);
    };
  }, []);
}

/** Commands of the page first, then those of the frame around it. A component that calls this follows their changes. */
export function allCommands(): Command[] {
  return sources.value.toReversed().flatMap((source) => source());
}

/** Returns the commands that have all words of a text, those that begin with it first. */
export function matching(commands: readonly Command[], text: string): Command[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const fitting = commands.filter(({ label, group, words: others = "" }) => {
    const whole = `${group} ${label} ${others}`.toLowerCase();
    return words.every((word) => whole.includes(word));
  });
  const [first = ""] = words;
  const begins = ({ label }: Command): number => (label.toLowerCase().startsWith(first) ? 0 : 1);
  return first === "" ? fitting : fitting.sort((a, b) => begins(a) - begins(b));
}
