/** What a check found. */

/** How bad it is: FAIL means that work does not go on or may be lost, WARN that it may come to that. */
export type Level = 'OK' | 'WARN' | 'FAIL';

/** A finding. */
export interface Finding {
  /** What was looked at: "database.settings". */
  readonly check: string;
  readonly level: Level;
  /** What was found. */
  readonly found: string;
  /** Why it matters; empty for OK. */
  readonly meaning: string;
  /** What to do; empty for OK. */
  readonly remedy: string;
}

/** All is well. */
export function ok(check: string, found: string): Finding {
  return { check, level: 'OK', found, meaning: '', remedy: '' };
}

/** It may become bad. */
export function warn(check: string, found: string, meaning: string, remedy: string): Finding {
  return { check, level: 'WARN', found, meaning, remedy };
}

/** It is bad. */
export function fail(check: string, found: string, meaning: string, remedy: string): Finding {
  return { check, level: 'FAIL', found, meaning, remedy };
}

/** "1 run", "3 runs". */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
