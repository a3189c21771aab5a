/** Text without lone surrogates: what UTF-8 can carry. As a pattern, so that a published schema can say it, too. */
export const WELL_FORMED = /^\P{Cs}*$/u;
