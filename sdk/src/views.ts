import type { Fields } from "./fields.ts";
import type { Frame } from "./serialize.ts";

/** What entries of one child in one context have in common. */
export interface View {
  fields: Fields;
  /** By severity, made at first use. */
  frames: Frame[];
  /** 0 to 1, the same for all entries of a trace or session; without either each entry draws its own. */
  draw: number | undefined;
}

/** One child: its own place and fields. */
export interface State {
  category: string;
  type: string;
  own: Fields;
  /** Outside any context. */
  view?: View;
}

/** What `withContext` adds, and what it makes of each child. */
export interface Context {
  fields: Fields;
  views: WeakMap<State, View>;
}
