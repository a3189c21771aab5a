import { toast } from "../../../ui/toasts.tsx";

export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast("Copied", "good");
  } catch {
    toast("The browser refused to copy.", "error");
  }
}
