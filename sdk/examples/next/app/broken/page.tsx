export const dynamic = "force-dynamic";

/** What a page throws is logged by `onRequestError`. */
export default function Page() {
  throw new Error("The warehouse does not answer.");
}
