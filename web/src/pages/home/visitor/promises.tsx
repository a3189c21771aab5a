import { BellOff, CheckCheck, Files, Gauge, KeyRound, ListOrdered, Radio, Zap } from "lucide";
import { Icon } from "../../../ui/icon.tsx";
import css from "./visitor.module.css";

/** The guarantees of the README, each of which has tests. */
const PROMISES = [
  [Zap, "201 means searchable", "A query that starts after the answer sees every accepted entry."],
  [CheckCheck, "Exactly once", "A repeated request with the same Idempotency-Key is stored once."],
  [ListOrdered, "No gap", "Entries are numbered 1, 2, 3: a reader can prove that none is missing."],
  [Radio, "Complete tail", "A live view continues after the last entry it had, over restarts and lost connections."],
  [Gauge, "Exact limits", "Never one request above the limit, and none refused below it."],
  [KeyRound, "Keys end at once", "The next request with a deleted key is refused, everywhere."],
  [BellOff, "Good entries survive", "One bad entry is named and rejected; the others are stored."],
  [Files, "Your logs are your files", "Export all of it as NDJSON or Parquet, with its count and SHA-256."],
] as const;

export function Promises() {
  return (
    <ul class={css.promises} aria-label="Guarantees">
      {PROMISES.map(([shape, title, text]) => (
        <li key={title}>
          <Icon shape={shape} size={18} />
          <div>
            <h2>{title}</h2>
            <p>{text}</p>
          </div>
        </li>
      ))}
    </ul>
  );
}
