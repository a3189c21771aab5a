import { crc32, deflateSync, inflateSync } from "node:zlib";

/** An image without transparency: three bytes a pixel. */
interface Image {
  width: number;
  height: number;
  rgb: Uint8Array;
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** Samples of a pixel by colour type, for the types that Chromium writes. */
const CHANNELS: Readonly<Record<number, number>> = { 2: 3, 6: 4 };

/** Palette sizes, tried in this order until the picture is small enough. */
const PALETTES = [160, 96, 48, 32, 16] as const;

/**
 * Converts a PNG to one with a palette, which has a third of the size or less. A page has few colours and their
 * mixtures at the edges of letters: the most frequent ones are kept, and every other one becomes the nearest of them.
 * @param bytes maximum size, unless even the smallest palette exceeds it
 * @param height maximum number of lines; the rest is cut
 */
export function smallPng(png: Buffer, bytes: number, height: number): Buffer {
  const image = cropped(decode(png), height);
  const counted = count(image);
  let made: Buffer = Buffer.alloc(0);
  for (const colours of PALETTES) {
    made = encode(image, ...reduce(counted, colours));
    if (made.length <= bytes) break;
  }
  return made;
}

function cropped({ width, height, rgb }: Image, most: number): Image {
  const kept = Math.min(height, most);
  return { width, height: kept, rgb: rgb.subarray(0, kept * width * 3) };
}

function decode(png: Buffer): Image {
  const header = png.subarray(16, 29);
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const channels = CHANNELS[header[9] ?? 0];
  if (channels === undefined || header[8] !== 8 || header[12] !== 0)
    throw new Error("Not a PNG as Chromium writes it.");
  const parts: Buffer[] = [];
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    if (png.toString("latin1", at + 4, at + 8) === "IDAT") parts.push(png.subarray(at + 8, at + 8 + length));
    at += length + 12;
  }
  const bytes = unfiltered(inflateSync(Buffer.concat(parts)), width * channels, height, channels);
  if (channels === 3) return { width, height, rgb: bytes };
  const rgb = new Uint8Array(width * height * 3);
  for (let i = 0; i < width * height; i++) rgb.set(bytes.subarray(i * 4, i * 4 + 3), i * 3);
  return { width, height, rgb };
}

/** Reverses the filter of each line: see chapter 9 of the PNG specification. */
function unfiltered(raw: Buffer, stride: number, height: number, channels: number): Uint8Array {
  const out = new Uint8Array(stride * height);
  for (let y = 0; y < height; y++) {
    const kind = raw[y * (stride + 1)];
    const from = y * (stride + 1) + 1;
    const to = y * stride;
    for (let x = 0; x < stride; x++) {
      const left = x < channels ? 0 : (out[to + x - channels] ?? 0);
      const up = y === 0 ? 0 : (out[to + x - stride] ?? 0);
      const corner = x < channels || y === 0 ? 0 : (out[to + x - stride - channels] ?? 0);
      const guess =
        kind === 1 ? left : kind === 2 ? up : kind === 3 ? (left + up) >> 1 : kind === 4 ? paeth(left, up, corner) : 0;
      out[to + x] = (raw[from + x] ?? 0) + guess;
    }
  }
  return out;
}

function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner;
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}

/** The colour of every pixel, and all colours by frequency. */
interface Counted {
  pixels: Uint32Array;
  byCount: readonly number[];
}

function count({ rgb }: Image): Counted {
  const counts = new Map<number, number>();
  const pixels = new Uint32Array(rgb.length / 3);
  // Most pixels equal the previous one.
  let colour = -1;
  let run = 0;
  for (let i = 0, at = 0; i < pixels.length; i++, at += 3) {
    const next = ((rgb[at] ?? 0) << 16) | ((rgb[at + 1] ?? 0) << 8) | (rgb[at + 2] ?? 0);
    pixels[i] = next;
    if (next === colour) run++;
    else {
      counts.set(colour, (counts.get(colour) ?? 0) + run);
      colour = next;
      run = 1;
    }
  }
  counts.set(colour, (counts.get(colour) ?? 0) + run);
  counts.delete(-1);
  return { pixels, byCount: [...counts].sort((a, b) => b[1] - a[1]).map(([each]) => each) };
}

function reduce({ pixels, byCount }: Counted, colours: number): [palette: number[], indices: Uint8Array] {
  const palette = byCount.slice(0, colours);
  const nearest = new Map(byCount.map((colour) => [colour, nearestOf(palette, colour)]));
  const indices = new Uint8Array(pixels.length);
  let colour = -1;
  let index = 0;
  for (let i = 0; i < pixels.length; i++) {
    if (pixels[i] !== colour) {
      colour = pixels[i] ?? 0;
      index = nearest.get(colour) ?? 0;
    }
    indices[i] = index;
  }
  return [palette, indices];
}

function nearestOf(palette: readonly number[], colour: number): number {
  let best = 0;
  let distance = Number.POSITIVE_INFINITY;
  palette.forEach((candidate, index) => {
    const red = (candidate >> 16) - (colour >> 16);
    const green = ((candidate >> 8) & 255) - ((colour >> 8) & 255);
    const blue = (candidate & 255) - (colour & 255);
    const far = red * red + green * green + blue * blue;
    if (far >= distance) return;
    best = index;
    distance = far;
  });
  return best;
}

/** Lines without a filter, because indexes of a palette do not correlate between neighbours. */
function encode({ width, height }: Image, palette: readonly number[], indices: Uint8Array): Buffer {
  const perByte = palette.length <= 16 ? 2 : 1;
  const stride = Math.ceil(width / perByte);
  const raw = Buffer.alloc((stride + 1) * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const index = indices[y * width + x] ?? 0;
      const at = y * (stride + 1) + 1 + Math.floor(x / perByte);
      raw[at] = perByte === 1 ? index : (raw[at] ?? 0) | (x % 2 === 0 ? index << 4 : index);
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8 / perByte;
  header[9] = 3;
  const colours = Buffer.from(palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]));
  const data = deflateSync(raw, { level: 9, memLevel: 9 });
  return Buffer.concat([SIGNATURE, chunk("IHDR", header), chunk("PLTE", colours), chunk("IDAT", data), chunk("IEND")]);
}

function chunk(type: string, data: Buffer = Buffer.alloc(0)): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}
