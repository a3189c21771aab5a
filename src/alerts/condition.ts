/** When a group breaches. All values are of the window: the number of entries, or what a measure has of a field. */
export type Condition =
  /** At least the value; `below`: less than the value, in a window that has one. Absent: `above`. */
  | { kind: "threshold"; value: number; direction?: "above" | "below" }
  /** At least so much a second. */
  | { kind: "rate"; value: number }
  /** Less than the value, also without entries. */
  | { kind: "absence"; value: number }
  /**
   * So many percent more (`rise`) or less (`fall`) than in the window before. `min`: entries that the larger of both
   * windows must have.
   */
  | { kind: "change"; direction: "rise" | "fall"; percent: number; min: number }
  /** A pattern of messages that the rule has not seen before. It recovers a window later. */
  | { kind: "new-pattern" };

/** Whether a group breaches with a low value, and recovers with a high one. */
export function isLow(condition: Condition): boolean {
  return condition.kind === "absence" || (condition.kind === "threshold" && condition.direction === "below");
}

/** Writes a condition as messages have it: `>= 10`. */
export function conditionText(condition: Condition): string {
  switch (condition.kind) {
    case "threshold":
      return `${condition.direction === "below" ? "<" : ">="} ${condition.value}`;
    case "rate":
      return `>= ${condition.value}/s`;
    case "absence":
      return `< ${condition.value}`;
    case "change":
      return `${condition.direction === "rise" ? "+" : "-"}${condition.percent} %`;
    case "new-pattern":
      return "new pattern";
  }
}
