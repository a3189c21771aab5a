import { visible } from "../../lib/visible.ts";
import type { KnownBoard } from "../../model/boards.ts";
import { useTitle } from "../../ui/page.tsx";
import { Loading } from "../../ui/states.tsx";
import boardCss from "./boards.module.css";
import { inOrder, legible, type Place } from "./layout.ts";
import css from "./panel.module.css";

/** Panels of a board of which nothing is known: four of the usual size. */
const USUAL: readonly Place[] = [0, 1, 2, 3].map((at) => {
  return { id: String(at), x: (at % 2) * 6, y: Math.floor(at / 2) * 8, w: 6, h: 8 };
});

/** A board that is being loaded: what is known of it already, with its panels or their usual places still empty. */
export function LoadingBoard({ known }: { known: KnownBoard | undefined }) {
  const name = known?.name ?? "Board";
  useTitle(name);
  const panels = known?.panels;
  const places = panels === undefined ? USUAL : inOrder(legible(panels));
  const kindOf = (id: string) => panels?.find((panel) => panel.id === id)?.kind;
  return (
    <div class={boardCss.board}>
      <div class={boardCss.bar}>
        <h1>{visible(name)}</h1>
        <div class={boardCss.place} />
      </div>
      <div class={boardCss.asked}>
        <Loading />
      </div>
      <div class={boardCss.grid} aria-hidden="true">
        {places.map(({ id, x, y, w, h }) => (
          <div
            key={id}
            class={css.panel}
            data-kind={kindOf(id)}
            style={{ gridColumn: `${x + 1} / span ${w}`, gridRow: `${y + 1} / span ${h}` }}
          >
            <div class={css.head} />
            <p class={css.pending} />
          </div>
        ))}
      </div>
    </div>
  );
}
