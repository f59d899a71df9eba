/** Ticks that touch shared authority: what they ask, and how a batch of them is decided under its locks. Pure. */
import { DuctorError } from '../../kernel/index.js';
import { SemaphoreBook, type Turn, type Want } from '../../capacity/index.js';
import type { RunInput } from '../machine/inputs.js';
import type { RouteAnswer, RoutingWork, Unqueued, Withdrawal } from '../machine/routing-work.js';
import type { HoldingFamily, Selected, Selecting } from '../machine/selecting.js';
import { AdmissionBook, type Outside } from './admission-book.js';
import { AskingGate, type GateAsked } from './asking-gate.js';
import type { Verdict } from './commit-batch.js';
import type { GateLocks, GateUsage, SelectionAsk } from './gate-ports.js';
import type { GateDecision, GateOutcome, InboxMessage, TickOutcome } from './ports.js';
import { encodeInput } from './run-logic.js';
import { failedBy } from './route-answer.js';
import type { RunCell } from './run-cell.js';
import type { Tick } from './tick.js';

/** Longest time that a batch is decided under its locks, ms; what it does not come to goes into the next one. */
const DECIDE_MS = 5;

/** A gate that grants by a book of semaphores. */
class BookGate extends AskingGate {
  /** It was asked for keys that are not locked: what it answered is no answer. */
  isOutside = false;
  /** Pools that selections came to and that are not locked. */
  readonly pools: string[] = [];
  /** Paths of selections for which strategies in apps' code have to be asked first. */
  readonly unasked = new Set<string>();

  constructor(
    readonly cell: RunCell,
    readonly book: SemaphoreBook,
    readonly admission: AdmissionBook,
    /** Selections that were locked for. */
    readonly known: readonly SelectionAsk[],
  ) {
    super(cell);
  }

  override ask(path: string, ticket: number, wants: readonly Want[]): number | null {
    this.note(wants);
    const { tenantId, runId } = this.run;
    const answer = this.book.ask({ tenantId, runId, path }, ticket, wants);
    if (answer.kind === 'outside') this.isOutside = true;
    return answer.kind === 'granted' ? beginning(answer.startAtUs, this.book) : null;
  }

  override release(path: string, wants: readonly Want[]): void {
    this.note(wants);
    const { tenantId, runId } = this.run;
    if (!this.book.release({ tenantId, runId, path }, wants)) this.isOutside = true;
  }

  override select(selecting: Selecting): Selected | null {
    const asked = super.select(selecting);
    if (asked !== null) return asked;
    if (this.cell.isLockedOut) return LOCKED_OUT;
    if (this.#isNew(selecting)) return null;
    const { tenantId, runId } = this.run;
    const answer = this.admission.select({ tenantId, runId, family: selecting.family }, selecting, this.cell.said);
    if (answer.kind !== 'outside') return answer;
    this.#reach(selecting.path, answer);
    return null;
  }

  override route(work: RoutingWork): RouteAnswer | null {
    const asked = super.route(work);
    if (asked !== null) return asked;
    if (this.cell.isLockedOut) return failedBy(new DuctorError(LOCKED_OUT.code, LOCKED_OUT.message));
    if (this.#isNew(work)) return null;
    const answer = this.admission.route(this.run, work, this.cell.said);
    if (answer.kind !== 'outside') return answer;
    this.#reach(work.path, answer);
    return null;
  }

  override withdraw(itemId: string): Withdrawal | null {
    super.withdraw(itemId);
    const came = this.admission.withdraw(this.run.tenantId, itemId);
    if (came === null) this.isOutside = true;
    return came;
  }

  override unqueue(workId: string): Unqueued | null {
    super.unqueue(workId);
    const came = this.admission.unqueue(this.run.tenantId, workId);
    if (came === null) this.isOutside = true;
    return came;
  }

  /** Whether nobody knew of it before the locks: neither its pool was read then, nor what else it is decided by. */
  #isNew({ path, pool }: Pick<RoutingWork, 'path' | 'pool'>): boolean {
    const isKnown = this.known.some((each) => each.path === path && each.pool === pool);
    if (!isKnown) this.isOutside = true;
    return !isKnown;
  }

  /** Notes what has to be locked, or asked, before there is an answer. */
  #reach(path: string, { pools, isUnasked }: Outside): void {
    this.isOutside = true;
    this.pools.push(...pools);
    if (isUnasked === true) this.unasked.add(path);
  }

  override bear(family: HoldingFamily, childId: string): void {
    const { tenantId, runId } = this.run;
    this.admission.bear({ tenantId, runId, family }, childId);
  }

  override close(family: HoldingFamily): void {
    super.close(family);
    const { tenantId, runId } = this.run;
    if (!this.admission.close({ tenantId, runId, family })) this.isOutside = true;
  }
}

/** The locks were not to be had: this is no answer about capacity. */
const LOCKED_OUT: Selected & { readonly kind: 'refused' } = {
  kind: 'refused',
  code: 'capacity_authority_unavailable',
  message: 'the accounts of the recipients could not be locked in time',
};

/** 0 for at once: clocks differ. */
function beginning(startAtUs: number, { nowUs }: SemaphoreBook): number {
  return startAtUs <= nowUs ? 0 : startAtUs;
}

/** What somebody hears whose turn it is. */
function messageOf({ to, ticket, startAtUs }: Turn, book: SemaphoreBook): Omit<InboxMessage, 'id'> {
  const { tenantId, runId, path } = to;
  const at = startAtUs === null ? null : beginning(startAtUs, book);
  const input: RunInput & { readonly kind: 'semaphore' } = { kind: 'semaphore', path, ticket, startAtUs: at };
  return { tenantId, runId, kind: 'semaphore', body: encodeInput(input) };
}

/** What is selected in a tick, as far as it is known before anything is locked: also what its last try came to. */
export function selectionsOf({ gated, cell }: Pick<Tick, 'gated' | 'cell'>): readonly SelectionAsk[] {
  if (gated === null) return [];
  const { selections } = gated.asked;
  const more = cell.toLock.selections;
  if (more.length === 0) return selections;
  const paths = new Set(selections.map(({ path }) => path));
  return [...selections, ...more.filter(({ path }) => !paths.has(path))];
}

/**
 * The next batch locks what this one was asked for. It is known until the tick is written: a batch that is refused for
 * the sake of another run is tried again without that one, and would have to learn anew what it needs, for ever.
 */
function lockNextTime(cell: RunCell, gate: BookGate): void {
  cell.toLock = { ...gate.asked, pools: [...new Set([...cell.toLock.pools, ...gate.pools])] };
}

/** A batch of the gate lane while it is decided. */
export class GateBatch {
  /** As they were decided; null: not yet, it goes into the next batch. */
  #decided: (Tick | null)[] = [];

  constructor(
    readonly ticks: readonly Tick[],
    readonly monotonicMs: () => number,
    readonly newId: () => string,
  ) {}

  /** What it locks. */
  get locks(): GateLocks {
    const all = <T>(of: (asked: GateAsked) => readonly T[]): readonly T[] =>
      this.ticks.flatMap(({ gated, cell }) => [...(gated === null ? [] : of(gated.asked)), ...of(cell.toLock)]);
    const selections = this.ticks.flatMap(({ gated, cell }) => {
      if (cell.isLockedOut) return [];
      return selectionsOf({ gated, cell }).map((each) => ({ ...each, reached: cell.toLock.pools }));
    });
    return {
      selections,
      semaphores: all(({ keys }) => keys),
      families: all(({ families }) => families),
      items: all(({ items }) => items),
      works: all(({ works }) => works),
      runIds: this.ticks.map(({ cell }) => cell.runId),
    };
  }

  /** Decides tick by tick, in order of arrival. */
  decide({ nowUs, semaphores, reservations }: GateUsage): GateDecision {
    const book = new SemaphoreBook(semaphores, nowUs);
    const admission = new AdmissionBook(reservations, this.newId);
    const untilMs = this.monotonicMs() + DECIDE_MS;
    this.#decided = [];
    for (const tick of this.ticks) {
      const isLate = this.#decided.length > 0 && this.monotonicMs() >= untilMs;
      this.#decided.push(isLate ? null : this.#decideOne(tick, book, admission));
    }
    const ticks = this.#decided.flatMap((tick) => (tick === null ? [] : [tick.write]));
    return { ticks, semaphores: book.changes(), reservations: admission.changes(), isShort: book.isShort };
  }

  #decideOne(tick: Tick, book: SemaphoreBook, admission: AdmissionBook): Tick | null {
    if (tick.gated === null) return tick;
    const { cell } = tick;
    const fork = book.fork();
    const mark = admission.mark();
    const gate = new BookGate(cell, fork, admission, selectionsOf(tick));
    const result = tick.gated.compute(gate);
    cell.isGateShort = gate.isOutside;
    if (gate.isOutside) lockNextTime(cell, gate);
    cell.unasked = gate.asked.selections
      .filter(({ path }) => gate.unasked.has(path))
      .map((each) => ({ ...each, reached: cell.toLock.pools }));
    if (gate.isOutside || result.kind !== 'tick') {
      admission.takeBack(mark);
      return null;
    }
    const decided = result.tick;
    const messages = book.keep(fork).map((turn) => messageOf(turn, book));
    if (messages.length === 0) return decided;
    const { write } = decided;
    return { ...decided, write: { ...write, messages: [...(write.messages ?? []), ...messages] } };
  }

  /** One verdict for each tick of the batch. */
  verdicts(ticks: readonly TickOutcome[], isUndone: boolean): readonly Verdict[] {
    let at = 0;
    return this.#decided.map((tick): Verdict => {
      if (tick === null) return { kind: 'again' };
      const kind = ticks[at];
      at += 1;
      if (kind === undefined) return { kind: 'unknown' };
      return isUndone && kind === 'written' ? { kind: 'again' } : { kind, tick };
    });
  }
}

/** Commits a batch in the gate lane. */
export async function sendGated(
  batch: GateBatch,
  commit: (locks: GateLocks, decide: (usage: GateUsage) => GateDecision) => Promise<GateOutcome>,
) {
  const outcome = await commit(batch.locks, (usage) => batch.decide(usage));
  if (outcome.kind === 'undone') {
    const told = { kind: 'committed', ticks: outcome.ticks } as const;
    return { kind: 'decided', verdicts: batch.verdicts(outcome.ticks, true), outcome: told } as const;
  }
  if (outcome.kind !== 'committed') return outcome;
  return { kind: 'decided', verdicts: batch.verdicts(outcome.ticks, false), outcome } as const;
}
