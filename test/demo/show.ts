/** What the demo tells people: plain lines with the time since its start, coloured on a terminal only. */

/** Writes lines. */
export interface Show {
  /** A line of the timeline. */
  line(text: string): void;
  /** Something was killed. */
  kill(text: string): void;
  /** All is well. */
  good(text: string): void;
  /** Something is wrong. */
  bad(text: string): void;
  /** A line without a time. */
  plain(text: string): void;
}

const RED = 31;
const GREEN = 32;
const YELLOW = 33;

/** A show on standard output that began now. */
export function startShow(): Show {
  const beganMs = performance.now();
  const isColoured = process.stdout.isTTY && process.env['NO_COLOR'] === undefined;
  const write = (text: string, colour?: number): void => {
    const painted = colour === undefined || !isColoured ? text : `\u001B[${colour}m${text}\u001B[0m`;
    process.stdout.write(`${painted}\n`);
  };
  const timed = (text: string): string => `${seconds(performance.now() - beganMs).padStart(7)}  ${text}`;
  return {
    line: (text) => write(timed(text)),
    kill: (text) => write(timed(text), YELLOW),
    good: (text) => write(timed(text), GREEN),
    bad: (text) => write(timed(text), RED),
    plain: (text) => write(text),
  };
}

/** "1.24 s". */
export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}
