import { createContext } from "preact";

/** Id of the workspace to whose pages entries and queries are linked; `null`: to none. */
export const LinkedWorkspace = createContext<string | null>(null);
