/** Figures of many seeds, as they come in and as they are told. */
import { FAULT_KINDS } from '../faults.js';
import { MARK_NAMES } from '../marks.js';
import { CANARY } from '../planted/bugs.js';
import type { SeedReport } from '../scenario/run-seed.js';
import type { Figures } from './goals.js';
import type { Answer } from './task.js';

/** So many seeds have to reach every mark. */
const SEEDS_FOR_MARKS = 2_000;

function add(sums: Map<string, number>, counts: Readonly<Record<string, number>>): void {
  for (const [name, count] of Object.entries(counts)) sums.set(name, (sums.get(name) ?? 0) + count);
}

function table(names: readonly string[], sums: ReadonlyMap<string, number>): readonly string[] {
  const cells = names.map((name) => `${name} ${sums.get(name) ?? 0}`.padEnd(36));
  const rows: string[] = [];
  for (let at = 0; at < cells.length; at += 3)
    rows.push(
      `  ${cells
        .slice(at, at + 3)
        .join('')
        .trimEnd()}`,
    );
  return rows;
}

/** What came of many seeds. */
export class Summary {
  readonly failed: SeedReport[] = [];
  readonly #struck = new Map<string, number>();
  readonly #marks = new Map<string, number>();
  readonly #hashes = new Map<number, string>();
  readonly #bugs: (Answer & { readonly kind: 'bug' })[] = [];
  #seeds = 0;
  #again = 0;
  #events = 0;
  #virtualMs = 0;
  #runs = 0;
  #compared = 0;
  /** What the processes computed, wherever they had to wait. */
  #cpuMs = 0;
  /** Seeds whose second run gave another trace. */
  readonly differing: number[] = [];

  get seeds(): number {
    return this.#seeds;
  }

  /** Takes one answer in. */
  add(answer: Answer): void {
    this.#cpuMs += answer.cpuMs;
    if (answer.kind === 'bug') {
      this.#bugs.push(answer);
      return;
    }
    const { report } = answer;
    const before = this.#hashes.get(report.seed);
    this.#hashes.set(report.seed, report.hash);
    if (before !== undefined && before !== report.hash) this.differing.push(report.seed);
    if (answer.kind === 'again') {
      this.#again += 1;
      return;
    }
    this.#seeds += 1;
    this.#events += report.events;
    this.#virtualMs += report.virtualMs;
    this.#runs += report.runs;
    this.#compared += report.compared;
    add(this.#struck, report.struck);
    add(this.#marks, report.marks);
    if (report.violations.length > 0) this.failed.push(report);
  }

  /** Marks that enough seeds should have reached and did not. */
  missingMarks(): readonly string[] {
    if (this.#seeds < SEEDS_FOR_MARKS) return [];
    return MARK_NAMES.filter((mark) => !this.#marks.has(mark));
  }

  /** Bugs that no seed caught. */
  uncaught(): readonly string[] {
    return this.#bugs.filter((bug) => bug.seed === null).map((bug) => bug.name);
  }

  /** What all of it comes to. */
  figures(): Figures {
    const bugs = this.#bugs.filter(({ name }) => name !== CANARY.name);
    return {
      ...{ seeds: this.#seeds, events: this.#events, virtualMs: this.#virtualMs, again: this.#again },
      compared: this.#compared,
      ...{ struck: this.#struck, kinds: FAULT_KINDS, marks: this.#marks, markNames: MARK_NAMES },
      bugs: new Map(bugs.map(({ name, seed }) => [name, seed])),
      canary: this.#bugs.find(({ name }) => name === CANARY.name)?.seed ?? null,
      differing: this.differing.length,
    };
  }

  /** Checks that passed and failed: each seed, each comparison of two traces, each bug, each mark. */
  counts(): { readonly passed: number; readonly failed: number } {
    const marks = this.#seeds < SEEDS_FOR_MARKS ? 0 : MARK_NAMES.length;
    const all = this.#seeds + this.#again + this.#bugs.length + marks;
    const failed = this.failed.length + this.differing.length + this.uncaught().length + this.missingMarks().length;
    return { passed: all - failed, failed };
  }

  /** All figures, line by line. */
  lines(tookMs: number): readonly string[] {
    const days = (this.#virtualMs / 86_400_000).toFixed(2);
    const bugs = this.#bugs.map(({ name, seed, violation }) =>
      seed === null
        ? `  ${name.padEnd(24)} NOT CAUGHT`
        : `  ${name.padEnd(24)} by seed ${seed}: ${violation.slice(0, 90)}`,
    );
    const figures = `${this.#seeds} seeds, ${this.#runs} runs, ${this.#events} events, ${days} virtual days`;
    return [
      `${figures} in ${(tookMs / 1000).toFixed(1)} s, ${(this.#cpuMs / 1000).toFixed(1)} s of it computing`,
      'faults that struck:',
      ...table(FAULT_KINDS, this.#struck),
      'rare branches that were reached:',
      ...table(MARK_NAMES, this.#marks),
      `${this.#compared} runs came to what they come to in one process`,
      ...(bugs.length === 0 ? [] : ['planted bugs:', ...bugs.sort()]),
      `${this.#again} seeds ran twice, in two processes; ${this.differing.length} differed`,
    ];
  }
}
