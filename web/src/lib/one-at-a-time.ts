/**
 * Returns a load whose calls share the one in progress. Imports of one module end in any order, but what waits for a shared one goes on in
 * the order of the calls: of two queries that wait for their language, the last one counts.
 */
export function oneAtATime<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | null = null;
  return () => {
    loading ??= load().finally(() => {
      loading = null;
    });
    return loading;
  };
}
