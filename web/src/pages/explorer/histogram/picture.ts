import { printDuration } from "../../../../../src/query-language/values.ts";
import type { Picture } from "../../../charts/image/image.ts";
import type { PicturedRelease } from "../../../charts/releases.ts";
import { titleOf } from "../../boards/panel-title.ts";
import { askedOf } from "../search/asked.ts";
import { type Bar, type Edges, levelsIn } from "./bars.ts";

/** Returns the bars of a query as a picture: as the table that counts them. */
export function pictureOf(
  query: string,
  bars: readonly Bar[],
  { from, to }: Edges,
  releases: readonly PicturedRelease[],
): Picture {
  const [first] = bars;
  const width = printDuration(first === undefined ? 1000 : first.end - first.start);
  const counting = `${askedOf(query).q ?? "*"} | count by level, bin(${width})`;
  const table = {
    columns: [
      { name: "level", type: "string" },
      { name: "time", type: "time" },
      { name: "count", type: "number" },
    ],
    rows: bars.flatMap((bar) =>
      levelsIn([bar]).map((level) => [level, new Date(bar.start).toISOString(), bar.levels[level]]),
    ),
  };
  return {
    title: titleOf(counting),
    table,
    query: counting,
    kind: "bars",
    range: { from, to },
    releases,
    isEach: true,
  };
}
