import { ArrowLeft } from "lucide";
import { useLocation } from "preact-iso";
import { visible } from "../../../lib/visible.ts";
import { Icon } from "../../../ui/icon.tsx";
import { rangeLabel } from "../view/format.ts";
import { readView } from "../view/view.ts";
import css from "./way-back.module.css";

/** The way back from a part of what a search found, such as the first entries of a release. @param before the search */
export function WayBack({ before }: { before: string }) {
  const { path } = useLocation();
  const search = before.replace(/^\?/, "");
  const { query = "all entries", range } = readView(`?${search}`).view;
  return (
    <nav class={css.way} aria-label="Search before">
      <a href={`${path}${search === "" ? "" : `?${search}`}`}>
        <Icon shape={ArrowLeft} />
        Back to the search before
      </a>
      <span class={css.search}>
        {visible(query)}, {rangeLabel(range)}
      </span>
    </nav>
  );
}
