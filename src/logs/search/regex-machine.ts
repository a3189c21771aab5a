import type { WorkMeter } from "../query/budget.ts";

/** Work units of one step of a thread. */
const STEP_WORK = 10;

/** Operations of the instructions of a program. */
const OP = {
  alt: 1,
  altMatch: 2,
  capture: 3,
  emptyWidth: 4,
  match: 6,
  nop: 7,
  rune: 8,
  rune1: 9,
  any: 10,
  notBreak: 11,
};
/** Bits of an empty-width instruction. */
const AT = { lineStart: 1, lineEnd: 2, textStart: 4, textEnd: 8, wordBoundary: 16, noWordBoundary: 32 };
const LINE_BREAK = 10;

interface Instruction {
  op: number;
  out: number;
  arg: number;
  matchRune(rune: number): boolean;
}

/** A program as re2js compiles it. */
export interface Program {
  start: number;
  numInst(): number;
  getInst(at: number): Instruction;
}

/** Runs a program over a text, all threads side by side, one character after the other. */
export class Machine {
  readonly #program: Instruction[];
  readonly #start: number;
  /** Instructions at which a thread is: a list, and the index of each in it. */
  readonly #threads: Int32Array;
  readonly #indexOf: Int32Array;
  #count = 0;
  readonly #pending: Int32Array;
  readonly #stack: number[] = [];
  #steps = 0;

  constructor(program: Program) {
    const size = program.numInst();
    this.#program = Array.from({ length: size }, (_, at) => program.getInst(at));
    this.#start = program.start;
    this.#threads = new Int32Array(size);
    this.#indexOf = new Int32Array(size);
    this.#pending = new Int32Array(size);
  }

  *steps(text: string, meter: WorkMeter): Generator<void, boolean> {
    const threads = this.#threads;
    const pending = this.#pending;
    let waiting = 0;
    let before = -1;
    for (let at = 0; ; ) {
      const rune = at < text.length ? (text.codePointAt(at) ?? -1) : -1;
      const flags = flagsBetween(before, rune);
      this.#count = 0;
      for (let index = 0; index < waiting; index++) if (this.#add(pending[index] ?? 0, flags)) return true;
      if (this.#add(this.#start, flags)) return true;
      if (rune < 0) return false;
      waiting = 0;
      for (let index = 0; index < this.#count; index++) {
        const instruction = this.#program[threads[index] ?? 0];
        if (instruction !== undefined && takes(instruction, rune)) pending[waiting++] = instruction.out;
      }
      meter.add((this.#steps + this.#count) * STEP_WORK);
      this.#steps = 0;
      if (meter.isDue) yield;
      before = rune;
      at += rune > 0xffff ? 2 : 1;
    }
  }

  /** Adds a thread and all that it leads to without a character. @returns whether one of them is a match */
  #add(start: number, flags: number): boolean {
    const stack = this.#stack;
    stack.push(start);
    for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
      const index = this.#indexOf[at] ?? 0;
      const instruction = this.#program[at];
      if (instruction === undefined || (index < this.#count && this.#threads[index] === at)) continue;
      this.#indexOf[at] = this.#count;
      this.#threads[this.#count++] = at;
      this.#steps++;
      const { op, out, arg } = instruction;
      if (op === OP.match) {
        stack.length = 0;
        return true;
      }
      if (op === OP.alt || op === OP.altMatch) stack.push(arg, out);
      else if (op === OP.capture || op === OP.nop) stack.push(out);
      else if (op === OP.emptyWidth && (arg & ~flags) === 0) stack.push(out);
    }
    return false;
  }
}

function takes(instruction: Instruction, rune: number): boolean {
  switch (instruction.op) {
    case OP.rune:
    case OP.rune1:
      return instruction.matchRune(rune);
    case OP.any:
      return true;
    case OP.notBreak:
      return rune !== LINE_BREAK;
    default:
      return false;
  }
}

/** @param before,after characters around a place; -1 at the beginning and the end */
function flagsBetween(before: number, after: number): number {
  let flags = isWord(before) === isWord(after) ? AT.noWordBoundary : AT.wordBoundary;
  if (before < 0) flags |= AT.textStart | AT.lineStart;
  if (before === LINE_BREAK) flags |= AT.lineStart;
  if (after < 0) flags |= AT.textEnd | AT.lineEnd;
  if (after === LINE_BREAK) flags |= AT.lineEnd;
  return flags;
}

/** Digits, letters of ASCII, and the underscore. */
function isWord(rune: number): boolean {
  return (rune >= 48 && rune <= 57) || (rune >= 65 && rune <= 90) || rune === 95 || (rune >= 97 && rune <= 122);
}
