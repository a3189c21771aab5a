import { visible } from "../../lib/visible.ts";

/** What an image is made of: parts below each other, of texts that end where their room ends. */

/** Pixels of the image, before `SCALE`. */
export const WIDTH = 1200;
export const MARGIN = 24;
export const INNER = WIDTH - 2 * MARGIN;
const LINE = 20;

/** The picture as it is laid out from top to bottom: what to draw, and where the next part begins. */
export interface Layout {
  context: CanvasRenderingContext2D;
  colour: (token: string) => string;
  parts: (() => void)[];
  y: number;
}

interface Style {
  token?: string;
  size?: number;
  weight?: number;
  isCode?: boolean;
}

export function fontOf({ size = 13, weight = 400, isCode = false }: Style): string {
  return `${weight} ${size}px ${isCode ? '"JetBrains Mono Variable", ui-monospace, monospace' : '"Inter Variable", system-ui, sans-serif'}`;
}

/** Adds a line of text. */
export function text(layout: Layout, content: string, style: Style = {}): void {
  const { y } = layout;
  const height = (style.size ?? 13) + 7;
  layout.parts.push(() => write(layout, content, MARGIN, y + height - 7, { ...style, most: INNER }));
  layout.y += height;
}

interface Written extends Style {
  align?: CanvasTextAlign;
  /** Pixels of the width, at most: a longer text ends with `…`. */
  most?: number;
}

/** Writes a text on a base line, and returns its width. */
export function write({ context, colour }: Layout, content: string, x: number, y: number, style: Written): number {
  const { token = "--text", align = "left", most = INNER } = style;
  context.font = fontOf(style);
  // Code has no ligatures, as on the page.
  context.textRendering = style.isCode ? "optimizeSpeed" : "auto";
  context.textAlign = align;
  context.fillStyle = colour(token);
  const shown = fitting(context, visible(content), most);
  context.fillText(shown, x, y);
  return context.measureText(shown).width;
}

/** Returns the longest beginning of a text that has room, in a few steps. */
function fitting(context: CanvasRenderingContext2D, content: string, most: number): string {
  if (context.measureText(content).width <= most) return content;
  let [low, high] = [0, Math.min(content.length, 2000)];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (context.measureText(`${content.slice(0, middle)}\u2026`).width <= most) low = middle;
    else high = middle - 1;
  }
  return `${content.slice(0, low).replace(/[\uD800-\uDBFF]$/, "")}\u2026`;
}

export function widthOf({ context }: Layout, content: string, style: Style): number {
  context.font = fontOf(style);
  return context.measureText(content).width;
}

/** Adds keys of a legend, or texts, in lines of the width. */
export function keysPart(layout: Layout, keys: readonly { name: string; token: string | null }[]): void {
  let x = MARGIN;
  for (const { name, token } of keys) {
    const indent = token === null ? 0 : 16;
    const width = Math.min(INNER, indent + widthOf(layout, visible(name), { size: 12 }));
    if (x > MARGIN && x + width > WIDTH - MARGIN) {
      x = MARGIN;
      layout.y += LINE;
    }
    const [left, y] = [x, layout.y];
    layout.parts.push(() => {
      if (token !== null) {
        layout.context.fillStyle = layout.colour(token);
        layout.context.fillRect(left, y + 3, 10, 10);
      }
      const style = { size: 12, token: token === null ? "--quiet" : "--text", most: width - indent + 1 };
      write(layout, name, left + indent, y + 12, style);
    });
    x += width + 16;
  }
  layout.y += LINE + 4;
}
