import type { Fields } from "./fields.ts";
import type { LevelSwitch } from "./level-switch.ts";
import type { ChildOptions } from "./logger-options.ts";
import type { EntryPrefix } from "./serialize.ts";

/** The common parts of the entries of one logger in one context. */
export interface View {
  fields: Fields;
  /** Prefixes by severity, created at first use. */
  prefixes: EntryPrefix[];
  /** Sampling value from 0 to 1 of the trace or session; `undefined` if each entry has a random one. */
  draw: number | undefined;
  /** The context for which the view is valid. */
  context: Context | undefined;
}

/** The state of one logger: its category, type, fields and level. */
export interface State {
  category: string;
  type: string;
  own: Fields;
  levels: LevelSwitch;
  /** Functions that replace members of a call's `data`. */
  serializers: ChildOptions["serializers"];
  /** The view outside of any context and span. */
  view?: View;
}

/** The fields of one `withContext` call, and the views of loggers in it. */
export interface Context {
  fields: Fields;
  views: WeakMap<State, View>;
}
