import { toast } from "../../../ui/toasts.tsx";

/** @param done what the toast says, such as `Copied as JSON` */
export async function copyText(text: string, done: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast(done, "good");
  } catch {
    toast("The browser refused to copy.", "error");
  }
}
