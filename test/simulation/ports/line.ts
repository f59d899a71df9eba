/**
 * A process's calls of the database: each question travels, happens at one instant, and its answer travels back.
 *
 *   asked -> lost on the way | happened -> answered | answer lost
 * A question that was sent may happen even when its process is paused or died meanwhile; nobody then hears its answer.
 */
import { DuctorError } from '../../../engine/src/kernel/index.js';
import type { GateLocks, GateUsage } from '../../../engine/src/workflow/coordinator/gate-ports.js';
import type {
  CommitOutcome,
  GateDecision,
  GateOutcome,
  TickWrite,
} from '../../../engine/src/workflow/coordinator/ports.js';
import { runName } from '../checks/names.js';
import type { Sim } from '../core/sim.js';
import type { Server, Writer } from './server.js';

/** How long a call waits for a connection. */
const CONNECTION_WAIT_US = 3_000_000;
/** Locks that were not had in time. */
const LOCKED = '55P03';
/** What a standby answers to who wants to write. */
const READ_ONLY = '25006';

const UNKNOWN: CommitOutcome = { kind: 'unknown', message: 'the connection broke' };

function unavailable(): DuctorError {
  return new DuctorError('database_unavailable', 'the connection broke');
}

/** The calls of one process. */
export class Line {
  constructor(
    readonly sim: Sim,
    readonly server: Server,
    readonly writer: Writer,
  ) {}

  /**
   * A call that happens at one instant. Rejects with database_unavailable when it or its answer is lost.
   *
   * @param isLost it does not arrive, whatever the faults say
   */
  ask<T>(what: string, happen: () => T, isLost = false): Promise<T> {
    return new Promise((resolve, reject) => {
      const { faults } = this.sim;
      const lost = (): void => this.#answer(`${what} failed`, () => reject(unavailable()));
      if (isLost || faults.strikes('store_lost_before')) return lost();
      const isAnswerLost = faults.strikes('store_lost_after');
      this.#arrive(what, lost, () => {
        let answer: () => void;
        try {
          const value = happen();
          answer = () => resolve(value);
        } catch (error) {
          answer = () => reject(DuctorError.from(error));
        }
        const connection = this.#connection;
        if (isAnswerLost) return lost();
        this.#answer(`${what} answered`, () => (this.#connection === connection ? answer() : reject(unavailable())));
      });
    });
  }

  /** A commit: what is lost is unknown. */
  commit(nodeId: string, ticks: readonly TickWrite[]): Promise<CommitOutcome> {
    const isAmbushed = this.#fallIntoAmbush();
    return new Promise((resolve, reject) => {
      const { faults, choices } = this.sim;
      const what = `commit of ${ticks.length}`;
      const lost = (hasHappened: boolean): void => {
        this.sim.marks.reach(hasHappened ? 'unknown_written' : 'unknown_not_written');
        for (const write of ticks) if (write.seq === 1) this.server.check.truth.unknownStarts.add(runName(write));
        // A store that throws says no more than one that answers "unknown".
        const doThrow = choices.chance(0.2);
        this.#answer(`${what} unknown`, () => (doThrow ? reject(unavailable()) : resolve(UNKNOWN)));
      };
      if (faults.strikes('store_lost_before')) return lost(false);
      const sqlState = this.#repeats();
      if (sqlState !== null) {
        return this.#answer(`${what} to be repeated: ${sqlState}`, () => resolve({ kind: 'repeat', sqlState }));
      }
      if (faults.strikes('commit_late') || (isAmbushed && choices.chance(0.3))) {
        // What a process was struck in the middle of may outlast its lease.
        const soonUs = choices.oneOf(4_000, 12_000, 100_000, 700_000, 4_000_000);
        const delayUs = choices.exponential(isAmbushed ? choices.oneOf(soonUs, 9_000_000) : soonUs);
        this.server.commitLater(this.writer, nodeId, ticks, delayUs);
        return lost(false);
      }
      const isAnswerLost = faults.strikes('store_lost_after');
      const isDoubled = faults.strikes('commit_doubled');
      this.#arrive(
        what,
        () => lost(false),
        () => {
          if (isDoubled) this.server.commit(this.writer, nodeId, ticks);
          const outcome = this.server.commit(this.writer, nodeId, ticks);
          const connection = this.#connection;
          if (isAnswerLost) return lost(outcome.kind === 'committed');
          const told = outcome.kind === 'committed' ? outcome.ticks.join(' ') : outcome.kind;
          this.#answer(`${what} answered: ${told}`, () => resolve(this.#connection === connection ? outcome : UNKNOWN));
        },
      );
    });
  }

  /** A batch of the gate lane: what is lost is unknown. */
  commitGated(nodeId: string, locks: GateLocks, decide: (usage: GateUsage) => GateDecision): Promise<GateOutcome> {
    return new Promise((resolve) => {
      const { faults, choices } = this.sim;
      const what = `gate of ${locks.runIds.length}`;
      const lost = (): void => this.#answer(`${what} unknown`, () => resolve(UNKNOWN));
      if (faults.strikes('store_lost_before')) return lost();
      const isLocked = locks.selections.length > 0 && faults.strikes('accounts_locked');
      const repeated = isLocked ? LOCKED : this.#repeats();
      const sqlState = repeated === '40001' ? choices.oneOf('40001', LOCKED) : (repeated ?? '');
      const repeat = (): void => resolve({ kind: 'repeat', sqlState });
      const [alone] = locks.runIds.length === 1 ? locks.runIds : [];
      if (sqlState === LOCKED && alone !== undefined) this.server.sight.lockedOut.add(alone);
      if (repeated !== null) return this.#answer(`${what} to be repeated: ${sqlState}`, repeat);
      const isAnswerLost = faults.strikes('store_lost_after');
      this.#arrive(what, lost, () => {
        const outcome = this.server.commitGated(this.writer, nodeId, locks, decide);
        this.sim.marks.reach(outcome.kind === 'undone' ? 'gate_undone' : 'gate_commit');
        const connection = this.#connection;
        if (isAnswerLost) return lost();
        this.#answer(`${what} answered: ${outcome.kind}`, () =>
          resolve(this.#connection === connection ? outcome : UNKNOWN),
        );
      });
    });
  }

  /** Lets what lies in wait for a commit strike while this one is under way. */
  #fallIntoAmbush(): boolean {
    const { ambush, scheduler, choices } = this.sim;
    if (ambush === null) return false;
    this.sim.ambush = null;
    scheduler.after(choices.int(0, 3_000), null, `${this.writer.actor.name} is struck in mid-commit`, () =>
      ambush(this.writer.actor),
    );
    return true;
  }

  /** SQLSTATE with which the database wants a batch repeated, nothing of it written; null: it takes it. */
  #repeats(): string | null {
    const { faults, marks } = this.sim;
    if (faults.strikes('commit_repeat')) return '40001';
    if (faults.strikes('deadlock')) return '40P01';
    if (!this.writer.isAtStandby) return null;
    // The next session reaches the new primary.
    this.writer.isAtStandby = false;
    marks.reach('standby_refused');
    return READ_ONLY;
  }

  #travelUs(): number {
    const { choices, faults } = this.sim;
    return faults.strikes('store_slow') ? choices.int(50_000, 2_500_000) : choices.int(200, 3_000);
  }

  /** Names the connection: what was asked on another one than there is now gets no answer. */
  get #connection(): string {
    return `${this.server.epoch} ${this.writer.cuts}`;
  }

  /** The question arrives, unless the server is away, its connection was cut, or its process died on the way. */
  #arrive(what: string, lost: () => void, happen: () => void): void {
    const { actor, cuts, busyUntilUs } = this.writer;
    const { scheduler, marks } = this.sim;
    const waitUs = Math.max(0, busyUntilUs - scheduler.nowUs);
    if (waitUs > CONNECTION_WAIT_US) {
      scheduler.after(CONNECTION_WAIT_US, actor, `${what} got no connection`, lost);
      return;
    }
    if (waitUs > 0) marks.reach('connection_waited');
    scheduler.after(waitUs + this.#travelUs(), null, `${actor.name} ${what}`, () => {
      if (!actor.isAlive && this.sim.choices.chance(0.5)) return;
      // A process that was stopped in the middle of a statement sends the rest when it goes on.
      if (actor.state === 'paused' && this.sim.choices.chance(0.7)) this.#sendRest(what, lost, happen);
      else if (this.server.isDown || this.writer.cuts !== cuts) lost();
      else if (this.writer.isAtStandby) this.#refuse(lost);
      else happen();
    });
  }

  /** A standby may be behind: what it would answer is not believed. */
  #refuse(lost: () => void): void {
    this.sim.marks.reach('standby_refused');
    if (this.sim.choices.chance(0.5)) this.writer.isAtStandby = false;
    lost();
  }

  #sendRest(what: string, lost: () => void, happen: () => void): void {
    this.sim.scheduler.after(0, this.writer.actor, `sends the rest of ${what}`, () => this.#arrive(what, lost, happen));
  }

  #answer(label: string, deliver: () => void): void {
    this.sim.scheduler.after(this.#travelUs(), this.writer.actor, label, deliver);
  }
}
