/** What step bodies put into their results, and by what the checks know it again. */

/** Codes with which bodies fail; all others are the engine's own. */
export const BODY_CODES: ReadonlySet<string> = new Set(['boom', 'fatal']);

/** Bytes that make the database refuse what holds them. */
export const VENOM = 'venom';
