/** The step log of slow3: a line at the start and at the end of each step, written by whatever process ran it. */
import { closeSync, openSync, readSync } from 'node:fs';

/** One line. */
export interface Mark {
  readonly event: 'start' | 'end';
  readonly run: number;
  readonly step: string;
  /** When, ms since 1970. */
  readonly atMs: number;
}

/** What a log says about a kill. */
export interface KillVerdict {
  /** Last end of a step after the kill, ms from the kill; NaN when none ended. */
  readonly killToLastMs: number;
  /** Steps that were running at the kill. */
  readonly inFlight: number;
  /** Starts of steps beyond the first of each. */
  readonly duplicates: number;
  /** Steps that had ended before the kill and yet ran again: their results were lost. */
  readonly endedButRunAgain: number;
}

const LINE = /^([se]) (\d+) (\S+) (\d+)$/;
const CHUNK_BYTES = 256 * 1024;

/** Parses whole lines. Throws for a line that is none. Pure. */
export function parseMarks(text: string): Mark[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [, event, run, step, at] = LINE.exec(line) ?? [];
      if (step === undefined) throw new Error(`no line of a step log: ${JSON.stringify(line)}`);
      return { event: event === 's' ? 'start' : 'end', run: Number(run), step, atMs: Number(at) };
    });
}

/** Judges a log with a kill in it. Pure. */
export function judgeKill(marks: readonly Mark[], killMs: number): KillVerdict {
  const starts = new Map<string, number[]>();
  const ends = new Map<string, number[]>();
  for (const { event, run, step, atMs } of marks) {
    const times = event === 'start' ? starts : ends;
    const key = `${run}/${step}`;
    times.set(key, [...(times.get(key) ?? []), atMs]);
  }
  const before = (times: readonly number[] | undefined): boolean => (times ?? []).some((atMs) => atMs <= killMs);
  const after = (times: readonly number[]): boolean => times.some((atMs) => atMs > killMs);
  const all = [...starts];
  const lastMs = Math.max(...marks.filter(({ event, atMs }) => event === 'end' && atMs > killMs).map((m) => m.atMs));
  return {
    killToLastMs: Number.isFinite(lastMs) ? lastMs - killMs : Number.NaN,
    inFlight: all.filter(([key, times]) => before(times) && !before(ends.get(key))).length,
    duplicates: all.reduce((sum, [, times]) => sum + times.length - 1, 0),
    endedButRunAgain: all.filter(([key, times]) => before(ends.get(key)) && after(times)).length,
  };
}

/** Reads a log while it grows. */
export class StepLog {
  /** Everything read so far. */
  readonly marks: Mark[] = [];
  readonly #file: string;
  readonly #ended = new Set<string>();
  #readBytes = 0;
  #rest = '';

  /** Makes the file anew. */
  constructor(file: string) {
    this.#file = file;
    closeSync(openSync(file, 'w'));
  }

  /** Steps that have ended, each counted once. Reads what is new. */
  ended(): number {
    this.#read();
    return this.#ended.size;
  }

  #read(): void {
    const handle = openSync(this.#file, 'r');
    const chunk = Buffer.alloc(CHUNK_BYTES);
    const size = readSync(handle, chunk, 0, CHUNK_BYTES, this.#readBytes);
    closeSync(handle);
    this.#readBytes += size;
    // A last line without its end is kept for the next look.
    const text = this.#rest + chunk.toString('latin1', 0, size);
    const whole = text.lastIndexOf('\n') + 1;
    this.#rest = text.slice(whole);
    for (const mark of parseMarks(text.slice(0, whole))) {
      this.marks.push(mark);
      if (mark.event === 'end') this.#ended.add(`${mark.run}/${mark.step}`);
    }
  }
}
