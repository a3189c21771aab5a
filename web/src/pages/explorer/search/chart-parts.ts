/** What the explorer loads for the first table of a query, after its first rows. */
export { Charts, rowsOfChoice } from "../../../charts/chart.tsx";
export { answeredRange } from "../../../charts/chart-data.ts";
export { ImageMenu } from "../../../charts/image/image-menu.tsx";
export { fittingKind, kindsOf, usualKind } from "../../boards/board-query.ts";
export { partsOf, spansWithRows } from "../../boards/kept-parts.ts";
export { KindField } from "../../boards/kind-field.tsx";
export { titleOf } from "../../boards/panel-title.ts";
export { SaveToBoard } from "../../boards/save-to-board.tsx";
