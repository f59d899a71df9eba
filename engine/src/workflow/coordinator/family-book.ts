/**
 * Who of a family is open while a batch is decided, and what is released because nobody below it is. Pure.
 *
 * A chain is alive while one of its runs is open, or a chain is that one of its runs started. What a chain holds is
 * released when it is no longer alive, and at no other time. Invariants: 1. a run that nobody has read counts as open
 * from the moment it is named; 2. what was taken back leaves no trace.
 */
import type { Reservation } from '../../capacity/index.js';
import type { HoldingFamily } from '../machine/selecting.js';
import type { FamilyRun, FamilyUsage } from './gate-ports.js';

/** See above. */
export class FamilyBook {
  readonly #runs = new Map<string, FamilyRun>();
  #held: readonly Reservation[];
  readonly #undo: (() => void)[] = [];

  constructor(readonly usage: FamilyUsage) {
    this.#held = usage.held;
    for (const run of usage.runs) this.#runs.set(run.runId, run);
  }

  mark(): number {
    return this.#undo.length;
  }

  takeBack(mark: number): void {
    for (const undo of this.#undo.splice(mark).reverse()) undo();
  }

  /** What a chain holds. */
  heldBy(chainId: string): readonly Reservation[] {
    return this.#held.filter((each) => each.chainId === chainId);
  }

  /** Notes what is held from now on. */
  hold(added: readonly Reservation[]): void {
    this.#setHeld([...this.#held, ...added]);
  }

  /** Notes a run that acts in this batch: its first row may not be there yet. */
  meet(runId: string, { chainId, parentId }: Omit<HoldingFamily, 'rootId'>): void {
    if (!this.#runs.has(runId)) this.#setRun({ runId, chainId, parentId, isOpen: true });
  }

  /** A run ends for good. Returns what is released with it. */
  close(runId: string, link: Omit<HoldingFamily, 'rootId'>): readonly Reservation[] {
    this.#setRun({ ...link, runId, isOpen: false });
    if (this.#held.length === 0) return [];
    const above = this.#chainsAbove(runId);
    if (!this.#held.some(({ chainId }) => above.has(chainId))) return [];
    const alive = this.#alive();
    const released = this.#held.filter(({ chainId }) => above.has(chainId) && !alive.has(chainId));
    if (released.length > 0) this.#setHeld(this.#held.filter((each) => !released.includes(each)));
    return released;
  }

  /** Whether nobody is open and nothing is held any more. */
  get isOver(): boolean {
    return this.#held.length === 0 && ![...this.#runs.values()].some(({ isOpen }) => isOpen);
  }

  /** The chain of a run, and those above it. */
  #chainsAbove(runId: string): ReadonlySet<string> {
    const chains = new Set<string>();
    for (let at = this.#runs.get(runId); at !== undefined; at = this.#runs.get(at.parentId ?? ''))
      chains.add(at.chainId);
    return chains;
  }

  /** Chains that are alive. */
  #alive(): ReadonlySet<string> {
    const alive = new Set<string>();
    const seen = new Set<string>();
    for (const run of this.#runs.values()) {
      if (!run.isOpen) continue;
      for (let at: FamilyRun | undefined = run; at !== undefined && !seen.has(at.runId);) {
        seen.add(at.runId);
        alive.add(at.chainId);
        at = at.parentId === null ? undefined : this.#runs.get(at.parentId);
      }
    }
    return alive;
  }

  #setRun(run: FamilyRun): void {
    const before = this.#runs.get(run.runId);
    this.#undo.push(() => {
      if (before === undefined) this.#runs.delete(run.runId);
      else this.#runs.set(run.runId, before);
    });
    this.#runs.set(run.runId, run);
  }

  #setHeld(held: readonly Reservation[]): void {
    const before = this.#held;
    this.#undo.push(() => (this.#held = before));
    this.#held = held;
  }
}
