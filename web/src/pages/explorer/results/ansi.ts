/** Colours and weights of terminals in texts. */

/** A part of a text with one look. */
export interface AnsiPart {
  text: string;
  /** One of the eight colours; `null`: that of the text. */
  colour: AnsiColour | null;
  isBold: boolean;
  isFaint: boolean;
  isUnderlined: boolean;
}

export const ANSI_COLOURS = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const;
export type AnsiColour = (typeof ANSI_COLOURS)[number];

type Look = Omit<AnsiPart, "text">;
const PLAIN: Look = { colour: null, isBold: false, isFaint: false, isUnderlined: false };

/** A control sequence: of those that end in `m` the numbers are looks, all others move the cursor or erase. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences begin with one.
const SEQUENCE = /\u001b\[([0-9;:]*)([@-~])/g;
/** Parts of one text, so that a text of sequences alone stays fast. */
const MOST = 400;

/** Splits a text at its control sequences, which are left out. Unknown ones change nothing. */
export function ansiParts(text: string): AnsiPart[] {
  const parts: AnsiPart[] = [];
  let look = PLAIN;
  let at = 0;
  for (const { index, 0: whole, 1: numbers = "", 2: end } of text.matchAll(SEQUENCE)) {
    if (index > at) parts.push({ text: text.slice(at, index), ...look });
    at = index + whole.length;
    if (end === "m") look = changed(look, numbers.split(/[;:]/).map(Number));
    if (parts.length === MOST) break;
  }
  if (at < text.length) parts.push({ text: text.slice(at), ...look });
  return parts;
}

function changed(before: Look, numbers: readonly number[]): Look {
  let look = before;
  for (let at = 0; at < numbers.length; at++) {
    const code = numbers[at] ?? 0;
    if (code === 38 || code === 48) {
      const isIndexed = numbers[at + 1] === 5;
      if (code === 38)
        look = { ...look, colour: isIndexed ? indexed(numbers[at + 2]) : mixed(numbers.slice(at + 2, at + 5)) };
      at += isIndexed ? 2 : 4;
    } else look = coded(look, code);
  }
  return look;
}

function coded(look: Look, code: number): Look {
  if (code === 0) return PLAIN;
  if (code === 1) return { ...look, isBold: true };
  if (code === 2) return { ...look, isFaint: true };
  if (code === 4) return { ...look, isUnderlined: true };
  if (code === 22) return { ...look, isBold: false, isFaint: false };
  if (code === 24) return { ...look, isUnderlined: false };
  if (code === 39) return { ...look, colour: null };
  const colour = ANSI_COLOURS[code >= 90 ? code - 90 : code - 30];
  return colour === undefined ? look : { ...look, colour };
}

/** The nearest of the eight colours, because only these have a contrast in both themes. */
function indexed(index = 0): AnsiColour | null {
  if (index < 16) return ANSI_COLOURS[index % 8] ?? null;
  if (index > 231) return index < 244 ? "black" : "white";
  const cube = index - 16;
  return mixed([Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map((part) => part * 51));
}

function mixed([red = 0, green = 0, blue = 0]: readonly number[]): AnsiColour | null {
  const most = Math.max(red, green, blue);
  const half = most / 2;
  if (most < 64) return "black";
  return ANSI_COLOURS[(red > half ? 1 : 0) + (green > half ? 2 : 0) + (blue > half ? 4 : 0)] ?? null;
}
