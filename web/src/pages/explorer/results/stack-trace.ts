/** Stack traces of several languages, as lines that a reader can fold. */

export interface StackLine {
  text: string;
  /** `own`: of the application. `library`: of a dependency or the runtime. `text`: no frame. */
  kind: "own" | "library" | "text";
  /** Whether it is the frame of the application that is nearest to the fault. */
  isFirst: boolean;
}

/** Lines of a trace. */
const MOST_LINES = 400;
/** Characters of a line that are tested. */
const TESTED = 600;

/** Frames of V8 and Java, of Firefox and Safari, of Python, Go, .NET, Ruby, PHP and Rust. */
const FRAMES: readonly RegExp[] = [
  /^\s+at \S/,
  /^[^\s@]*@(?:https?|file|app|webpack|node):\S+:\d+/,
  /^\s+File "[^"]+", line \d+/,
  /^\s+\S+\.go:\d+/,
  /^\s*(?:from )?\S+\.rb:\d+:in /,
  /^#\d+ \S+\(\d+\)/,
  /^\s+\d+: \S+::/,
];

const LIBRARIES =
  /node_modules|\(?node:|internal\/|<anonymous>|\[native code\]|site-packages|dist-packages|\/lib\/python|\/usr\/local\/go\/|\/go\/pkg\/mod|\/vendor\/|\/gems\/|rustc\/|\/\.cargo\/|webpack\/(?:runtime|bootstrap)|\bat (?:java|javax|jdk|sun|com\.sun|kotlin|scala|org\.(?:springframework|apache|hibernate|eclipse|jboss)|io\.netty|reactor|System|Microsoft)\./;

export function isStackTrace(text: string): boolean {
  if (!text.includes("\n")) return false;
  let frames = 0;
  for (const line of text.split("\n", 60)) if (isFrame(line)) frames++;
  return frames >= 2;
}

/** Splits a trace into lines. Python names the nearest frame last, all others first. */
export function stackLines(text: string): StackLine[] {
  const lines = text.split("\n", MOST_LINES).map((line): StackLine => {
    const kind = !isFrame(line) ? "text" : LIBRARIES.test(line.slice(0, TESTED)) ? "library" : "own";
    return { text: line, kind, isFirst: false };
  });
  // The source of a frame of Python is in the line below.
  const whole = lines.map((line, at) => {
    const above = lines[at - 1];
    const isSource = line.kind === "text" && above !== undefined && above.kind !== "text" && /^\s{4}/.test(line.text);
    return isSource && /^\s+File "/.test(above.text) ? { ...line, kind: above.kind } : line;
  });
  const isPython = /^Traceback /m.test(text.slice(0, TESTED));
  const isNearest = (line: StackLine): boolean => line.kind === "own" && isFrame(line.text);
  const first = isPython ? whole.findLastIndex(isNearest) : whole.findIndex(isNearest);
  return whole.map((line, at) => (at === first ? { ...line, isFirst: true } : line));
}

function isFrame(line: string): boolean {
  const text = line.slice(0, TESTED);
  return FRAMES.some((frame) => frame.test(text));
}

/** Lines of a library that follow each other, as one group; all others alone. */
export function stackGroups(lines: readonly StackLine[]): StackLine[][] {
  const groups: StackLine[][] = [];
  for (const line of lines) {
    const last = groups.at(-1);
    if (line.kind === "library" && last?.[0]?.kind === "library") last.push(line);
    else groups.push([line]);
  }
  return groups;
}
