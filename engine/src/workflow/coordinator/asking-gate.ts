/** The gate of a tick that is computed before anything is locked. */
import { familyName, keyOf, nameOf, type Family, type SemaphoreKey, type Want } from '../../capacity/index.js';
import { DuctorError } from '../../kernel/index.js';
import type { Gate } from '../machine/inputs.js';
import type { RouteAnswer, RoutingWork, Unqueued, Withdrawal } from '../machine/routing-work.js';
import type { HoldingFamily, Selected, Selecting } from '../machine/selecting.js';
import type { ItemKey, SelectionAsk, WorkKey } from './gate-ports.js';
import type { RunKey } from './ports.js';
import { failedBy } from './route-answer.js';
import { askOf } from './selection-ask.js';

/** What a tick was asked for. */
export interface GateAsked {
  readonly keys: readonly SemaphoreKey[];
  readonly selections: readonly SelectionAsk[];
  readonly families: readonly Family[];
  /** Claim items that may be taken out. */
  readonly items: readonly ItemKey[];
  /** The same of work in queues of pools. */
  readonly works: readonly WorkKey[];
}

const NO_ITEMS: readonly ItemKey[] = [];
const NO_WORKS: readonly WorkKey[] = [];
const NO_SELECTIONS: readonly SelectionAsk[] = [];

/** A gate that remembers which keys it was asked for. Grants nothing by itself. */
export class AskingGate implements Gate {
  readonly keys = new Map<string, SemaphoreKey>();
  /** Made when they are needed: nearly no tick asks for them. */
  #selections: readonly SelectionAsk[] = NO_SELECTIONS;
  #families: Map<string, Family> | null = null;
  #items: readonly ItemKey[] = NO_ITEMS;
  #works: readonly WorkKey[] = NO_WORKS;

  constructor(readonly run: RunKey) {}

  ask(_path: string, _ticket: number, wants: readonly Want[]): number | null {
    this.note(wants);
    return null;
  }

  release(_path: string, wants: readonly Want[]): void {
    this.note(wants);
  }

  /** Whether it was asked for nothing. */
  get isUnasked(): boolean {
    const isAlone = this.keys.size === 0 && this.#families === null;
    return isAlone && this.#selections.length + this.#items.length + this.#works.length === 0;
  }

  get asked(): GateAsked {
    const families = [...(this.#families?.values() ?? [])];
    const inQueues = { items: this.#items, works: this.#works };
    return { keys: [...this.keys.values()], selections: this.#selections, families, ...inQueues };
  }

  select(selecting: Selecting): Selected | null {
    const problem = this.#noteAsk(selecting, false);
    if (problem !== null) return { kind: 'refused', code: problem.code, message: problem.message };
    this.noteFamily(selecting.family);
    return null;
  }

  route(work: RoutingWork): RouteAnswer | null {
    const problem = this.#noteAsk(work, true);
    if (problem !== null) return failedBy(problem);
    if (work.family !== undefined) this.noteFamily(work.family);
    return null;
  }

  withdraw(itemId: string): Withdrawal | null {
    this.#items = [...this.#items, { tenantId: this.run.tenantId, itemId }];
    return null;
  }

  unqueue(workId: string): Unqueued | null {
    this.#works = [...this.#works, { tenantId: this.run.tenantId, workId }];
    return null;
  }

  /** Notes what is asked for; why it is none: it needs no lock to be refused. */
  #noteAsk(work: Selecting | RoutingWork, isRoute: boolean): DuctorError | null {
    const { tenantId, runId } = this.run;
    const { pool, path } = work;
    try {
      const asked = { tenantId, path, pool, isRoute, reached: [], ask: askOf(runId, work, undefined) };
      this.#selections = [...this.#selections, asked];
      return null;
    } catch (caught) {
      if (!(caught instanceof DuctorError) || caught.code === 'internal') throw caught;
      return caught;
    }
  }

  bear(_family: HoldingFamily, _childId: string): void {
    // The row that starts it says so, whatever the lane.
  }

  close(family: HoldingFamily): void {
    this.noteFamily(family);
  }

  /** Notes a family. */
  protected noteFamily({ rootId }: HoldingFamily): void {
    const family = { tenantId: this.run.tenantId, rootId };
    this.#families ??= new Map();
    this.#families.set(familyName(family), family);
  }

  /** Notes the keys of these. */
  protected note(wants: readonly Want[]): void {
    for (const want of wants) {
      const key = { tenantId: this.run.tenantId, key: keyOf(want) };
      this.keys.set(nameOf(key), key);
    }
  }
}
