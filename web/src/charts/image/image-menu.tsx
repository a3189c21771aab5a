import { Copy, Download, Ellipsis } from "lucide";
import { Menu } from "../../ui/menu.tsx";
import { saveBlob } from "../../ui/save-file.ts";
import { toast } from "../../ui/toasts.tsx";
import { lazyModule } from "../../ui/use-lazy.ts";
import type { Picture } from "./image.ts";

const IMAGE = lazyModule(() => import("./image.ts"));
const NOT_DRAWN = "The image could not be drawn.";

interface ImageMenuProps {
  /** Accessible name of the button. */
  label: string;
  small?: boolean;
  /** Called at the choice. */
  picture: () => Picture | Promise<Picture>;
}

/** Copies or downloads a chart or a table as an image. */
export function ImageMenu({ label, small = false, picture }: ImageMenuProps) {
  // At the choice, so that the image has the theme of that moment.
  const drawn = async (shown: Picture): Promise<Blob> => (await IMAGE.load()).imageOf(shown, document.body);
  const copy = async (): Promise<void> => {
    const image = (async () => drawn(await picture()))();
    const isDrawn = image.then(
      () => true,
      () => false,
    );
    try {
      // A promise, because browsers allow a copy for a few seconds after the choice, and the drawing may take longer.
      await navigator.clipboard.write([new ClipboardItem({ "image/png": image })]);
      toast("Image copied");
    } catch {
      toast((await isDrawn) ? "The browser refused to copy the image. Download it instead." : NOT_DRAWN, "error");
    }
  };
  const download = async (): Promise<void> => {
    try {
      const shown = await picture();
      saveBlob(`${fileName(shown.title)}.png`, await drawn(shown));
      toast("Image downloaded");
    } catch {
      toast(NOT_DRAWN, "error");
    }
  };
  return (
    <Menu
      label={label}
      icon={Ellipsis}
      iconOnly
      small={small}
      look="quiet"
      placement="bottom-end"
      items={[
        { label: "Copy as image", icon: Copy, onSelect: () => void copy() },
        { label: "Download image", icon: Download, onSelect: () => void download() },
      ]}
    />
  );
}

/** Letters and digits of a title, the rest as hyphens. */
function fileName(title: string): string {
  const name = title.replaceAll(/[^\p{L}\p{N}]+/gu, "-").replaceAll(/^-|-$/g, "");
  return [...name].slice(0, 80).join("") || "chart";
}
