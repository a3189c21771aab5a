import { visible } from "../../../lib/visible.ts";
import { ScrollBox } from "../../../ui/scroll-box.tsx";
import { TextButton } from "../../../ui/text-button.tsx";
import { lengthText } from "../length-text.ts";
import css from "./trace.module.css";
import type { Waterfall } from "./waterfall-model.ts";

interface TraceTableProps {
  waterfall: Waterfall;
  onSelect: (entryId: string) => void;
}

/** The spans of a trace as a table, in the order of the timeline. */
export function TraceTable({ waterfall: { rows, start }, onSelect }: TraceTableProps) {
  return (
    <ScrollBox label="Spans">
      <table class={css.table}>
        <thead>
          <tr>
            <th scope="col" data-number="true">
              After
            </th>
            <th scope="col" data-number="true">
              Duration
            </th>
            <th scope="col">Depth</th>
            <th scope="col">Service</th>
            <th scope="col">Level</th>
            <th scope="col">Message</th>
            <th scope="col" data-number="true">
              Entries
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ span, depth }) => (
            <tr key={span.key}>
              <td data-number="true">{lengthText(span.start - start)}</td>
              <td data-number="true">{span.source === "moment" ? "–" : lengthText(span.end - span.start)}</td>
              <td>{depth}</td>
              <td>{span.service === "" ? "–" : visible(span.service)}</td>
              <td>{span.level}</td>
              <td>
                <TextButton class={css.pick} title="Show details" onPress={() => onSelect(span.entry.id)}>
                  {visible(span.entry.message.slice(0, 200))}
                </TextButton>
              </td>
              <td data-number="true">{span.entries.length}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollBox>
  );
}
