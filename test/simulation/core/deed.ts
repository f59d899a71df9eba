/** What people do to runs. */
export type Deed = 'pause' | 'resume' | 'retry' | 'terminate';

/** Each of them, by the name of its message. */
export const DEEDS: ReadonlySet<string> = new Set<Deed>(['pause', 'resume', 'retry', 'terminate']);
