/**
 * Workspaces that have had a live tail since this isolate began, and whose last tail is not known to be gone. An object that
 * hibernates keeps its sockets and leaves memory, so the objects themselves cannot be listed.
 */
export const tailedWorkspaces = new Set<string>();
