import type { Fields } from "./fields.ts";
import type { Gate } from "./gate.ts";
import type { Frame } from "./serialize.ts";
import type { ChildOptions } from "./types.ts";

/** What entries of one child in one context have in common. */
export interface View {
  fields: Fields;
  /** By severity, made at first use. */
  frames: Frame[];
  /** 0 to 1, the same for all entries of a trace or session; without either each entry draws its own. */
  draw: number | undefined;
  /** It holds in this context alone. */
  context: Context | undefined;
}

/** One child: its own place and fields. */
export interface State {
  category: string;
  type: string;
  own: Fields;
  gate: Gate;
  /** What members of the call's own fields are replaced by, as pino's children have it. */
  serializers: ChildOptions["serializers"];
  /** Outside any context and span. */
  view?: View;
}

/** What `withContext` adds, and what it makes of each child. */
export interface Context {
  fields: Fields;
  views: WeakMap<State, View>;
}
