import { globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const CSS = readFileSync(new URL("../../../web/src/ui/tokens.css", import.meta.url), "utf8");
const DENSITY = readFileSync(new URL("../../../web/src/ui/density.ts", import.meta.url), "utf8");

const LEVELS = ["trace", "debug", "log", "info", "warn", "error", "fatal"] as const;
const LEVEL_TEXTS = ["trace", "debug", "log", "info", "warn-level", "error-level", "fatal"];
const THEMES = ["light", "dark"] as const;
const SURFACES = ["page", "card", "raised", "sunk", "hover", "accent-soft"];
const TEXTS = ["text", "quiet", "accent", "error", "warn", "good", ...LEVEL_TEXTS];
const SYNTAX = ["syntax-key", "syntax-string", "syntax-number", "syntax-word"];

/** Least contrast of text, of areas that carry a meaning, and of the edge of a control (WCAG 1.4.3, 1.4.11). */
const TEXT_CONTRAST = 4.5;
const EDGE_CONTRAST = 3;
const FILL_CONTRAST = 1.7;
/** Least difference of two level areas in OKLab, times 100: about 2 is just noticeable. */
const LEAST_DIFFERENCE = 9;

/** Levels that a reader looks for: each differs from every other level, as text too. */
const SEVERE: readonly string[] = ["warn", "error", "fatal"];
const SERIES = [1, 2, 3, 4, 5, 6, "rest"].map((each) => `series-${each}`);
/** Least difference of two colours that differ plainly, as CIEDE2000: about 1 is just noticeable. */
const PLAIN_DIFFERENCE = 10;
/** Least difference of texts of two levels that are not severe. Their contrast leaves them few shades. */
const LEAST_TEXT_DIFFERENCE = 6;

/** Colour vision as a matrix on linear RGB (Machado, Oliveira and Fernandes 2009, severity 1). */
const VISIONS = {
  normal: [1, 0, 0, 0, 1, 0, 0, 0, 1],
  protanopia: [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
  deuteranopia: [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
  tritanopia: [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
} as const;

type Rgb = [number, number, number];

/** The colour of a token in a theme as linear RGB. */
function colour(name: string, theme: (typeof THEMES)[number]): Rgb {
  const found = new RegExp(`--${name}: light-dark\\((#[0-9a-f]{6}), (#[0-9a-f]{6})\\);`).exec(CSS);
  const hex = found?.[theme === "light" ? 1 : 2];
  if (hex === undefined) throw new Error(`tokens.css has no colour --${name}.`);
  return linear([1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255));
}

function linear(values: readonly number[]): Rgb {
  const [r = 0, g = 0, b = 0] = values.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return [r, g, b];
}

function contrast(a: Rgb, b: Rgb): number {
  const [low = 0, high = 0] = [a, b].map(([r, g, b]) => 0.2126 * r + 0.7152 * g + 0.0722 * b).sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

function seen([r, g, b]: Rgb, m: readonly number[]): Rgb {
  const row = (at: number): number =>
    Math.min(1, Math.max(0, (m[at] ?? 0) * r + (m[at + 1] ?? 0) * g + (m[at + 2] ?? 0) * b));
  return [row(0), row(3), row(6)];
}

/** Coordinates in OKLab, a space in which distances are perceived alike (Ottosson 2020). */
function oklab([r, g, b]: Rgb): Rgb {
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

function difference(a: Rgb, b: Rgb): number {
  const [p, q] = [oklab(a), oklab(b)];
  return Math.hypot(...p.map((value, at) => value - (q[at] ?? 0))) * 100;
}

/** Coordinates in CIELAB, for the white of sRGB. */
function cielab([r, g, b]: Rgb): Rgb {
  const f = (t: number): number => (t > 216 / 24389 ? Math.cbrt(t) : ((24389 / 27) * t + 16) / 116);
  const x = f((0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047);
  const y = f(0.2126729 * r + 0.7151522 * g + 0.072175 * b);
  const z = f((0.0193339 * r + 0.119192 * g + 0.9503041 * b) / 1.08883);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

/** CIEDE2000 of two colours in CIELAB (Sharma, Wu and Dalal 2005). */
function ciede2000([l1, a1, b1]: Rgb, [l2, a2, b2]: Rgb): number {
  const degrees = 180 / Math.PI;
  const weight = (c: number): number => Math.sqrt(c ** 7 / (c ** 7 + 25 ** 7));
  const g = 1 + 0.5 * (1 - weight((Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2));
  const [c1, c2] = [Math.hypot(a1 * g, b1), Math.hypot(a2 * g, b2)];
  const hue = (a: number, b: number): number => (Math.atan2(b, a * g) * degrees + 360) % 360;
  const [h1, h2] = [hue(a1, b1), hue(a2, b2)];
  const isGrey = c1 * c2 === 0;
  const turn = h2 - h1 > 180 ? -360 : h2 - h1 < -180 ? 360 : 0;
  const dh = isGrey ? 0 : 2 * Math.sqrt(c1 * c2) * Math.sin((h2 - h1 + turn) / 2 / degrees);
  const h = isGrey ? h1 + h2 : (h1 + h2 + Math.abs(turn)) / 2;
  const c = (c1 + c2) / 2;
  const l = ((l1 + l2) / 2 - 50) ** 2;
  const cos = (times: number, shift: number): number => Math.cos((times * h + shift) / degrees);
  const t = 1 - 0.17 * cos(1, -30) + 0.24 * cos(2, 0) + 0.32 * cos(3, 6) - 0.2 * cos(4, -63);
  const [x, y, z] = [
    (l2 - l1) / (1 + (0.015 * l) / Math.sqrt(20 + l)),
    (c2 - c1) / (1 + 0.045 * c),
    dh / (1 + 0.015 * c * t),
  ];
  const rotation = -Math.sin((60 * Math.exp(-(((h - 275) / 25) ** 2))) / degrees) * 2 * weight(c);
  return Math.sqrt(x * x + y * y + z * z + rotation * y * z);
}

/** Pairs of colours that differ by less than they have to. */
function tooAlike(
  colours: readonly { name: string; seen: Rgb }[],
  leastOf: (a: string, b: string) => number,
): { names: string[]; by: number }[] {
  return colours.flatMap((a, at) =>
    colours
      .slice(at + 1)
      .map((b) => ({ names: [a.name, b.name], by: ciede2000(cielab(a.seen), cielab(b.seen)) }))
      .filter(({ names: [one = "", other = ""], by }) => by < leastOf(one, other)),
  );
}

it("differences are those of the published pairs", () => {
  const pairs: [Rgb, Rgb, number][] = [
    [[50, 2.6772, -79.7751], [50, 0, -82.7485], 2.0425],
    [[50, 2.5, 0], [73, 25, -18], 27.1492],
    [[60.2574, -34.0099, 36.2677], [60.4626, -34.1751, 39.4387], 1.2644],
    [[22.7233, 20.0904, -46.694], [23.0331, 14.973, -42.5619], 2.0373],
    [[90.8027, -2.0831, 1.441], [91.1528, -1.6435, 0.0447], 1.4441],
    [[2.0776, 0.0795, -1.135], [0.9033, -0.0636, -0.5514], 0.9082],
  ];
  for (const [a, b, by] of pairs) expect(ciede2000(a, b)).toBeCloseTo(by, 4);
});

describe.each(THEMES)("the tokens of the %s theme", (theme) => {
  const of = (name: string): Rgb => colour(name, theme);

  it("have readable text on every surface", () => {
    const low = [...TEXTS, ...SYNTAX]
      .flatMap((text) => SURFACES.map((surface) => ({ text, surface, ratio: contrast(of(text), of(surface)) })))
      .filter(({ ratio }) => ratio < TEXT_CONTRAST);
    expect(low).toEqual([]);
    const pairs = [
      ["on-accent", "accent"],
      ["on-accent", "accent-hover"],
      ["error", "error-soft"],
      ["warn", "warn-soft"],
      ["good", "good-soft"],
      ["text", "mark"],
      ["faint", "card"],
      ["faint", "page"],
      ["faint", "raised"],
    ] as const;
    expect(pairs.filter(([text, surface]) => contrast(of(text), of(surface)) < TEXT_CONTRAST)).toEqual([]);
  });

  it("have visible edges of fields, and visible areas of levels", () => {
    expect(contrast(of("line-strong"), of("raised"))).toBeGreaterThanOrEqual(EDGE_CONTRAST);
    expect(LEVELS.filter((level) => contrast(of(`fill-${level}`), of("card")) < FILL_CONTRAST)).toEqual([]);
  });

  it.each(Object.entries(VISIONS))("have levels that differ with %s", (_, matrix) => {
    const areas = LEVELS.map((level) => ({ level, seen: seen(of(`fill-${level}`), matrix) }));
    const alike = areas.flatMap((a, at) =>
      areas
        .slice(at + 1)
        .map((b) => ({ levels: [a.level, b.level], by: difference(a.seen, b.seen) }))
        .filter(({ by }) => by < LEAST_DIFFERENCE),
    );
    expect(alike).toEqual([]);
  });

  it.each(Object.entries(VISIONS))(
    "have severe levels, outcomes and series that differ plainly with %s",
    (_, matrix) => {
      const asSeen = (names: readonly string[]) => names.map((name) => ({ name, seen: seen(of(name), matrix) }));
      const isSevere = (name: string) => SEVERE.includes(name.replace(/^fill-|-level$/g, ""));
      const leastOf = (muted: number) => (a: string, b: string) =>
        isSevere(a) || isSevere(b) ? PLAIN_DIFFERENCE : muted;
      expect(tooAlike(asSeen(LEVELS.map((level) => `fill-${level}`)), leastOf(0))).toEqual([]);
      expect(tooAlike(asSeen(LEVEL_TEXTS), leastOf(LEAST_TEXT_DIFFERENCE))).toEqual([]);
      for (const names of [["good", "warn", "error"], SERIES])
        expect(tooAlike(asSeen(names), () => PLAIN_DIFFERENCE)).toEqual([]);
    },
  );

  it("have visible lines of series", () => {
    const low = SERIES.filter((name) =>
      ["card", "page", "raised"].some((surface) => contrast(of(name), of(surface)) < EDGE_CONTRAST),
    );
    expect(low).toEqual([]);
  });
});

it("the heights of rows are the same in the style sheet and in the list", () => {
  const [compact = "", comfortable = ""] = CSS.split('[data-density="comfortable"]');
  for (const [name, css] of Object.entries({ compact, comfortable })) {
    const one = /--row: (\d+)px/.exec(css)?.[1];
    const two = /--row-two: (\d+)px/.exec(css)?.[1];
    const day = /--row-day: (\d+)px/.exec(css)?.[1];
    expect(DENSITY).toContain(`${name}: { one: ${one}, two: ${two}, day: ${day} }`);
  }
});

describe("texts of one width", () => {
  it("have no ligatures, so that `>=` of a query is two letters", () => {
    const styles = globSync("web/src/**/*.css", { cwd: new URL("../../../", import.meta.url).pathname });
    expect(styles.length).toBeGreaterThan(50);
    for (const style of styles) {
      const text = readFileSync(new URL(`../../../${style}`, import.meta.url), "utf8");
      const blocks = [...text.matchAll(/\{[^{}]*font[^;{}]*var\(--mono\)[^{}]*\}/g)].map(([block]) => block);
      // After `font`, which resets it.
      const drawn = blocks.filter((block) => !/var\(--mono\);[^}]*font-variant-ligatures: none;/.test(block));
      expect(drawn, style).toEqual([]);
    }
  });
});
