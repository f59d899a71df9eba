/**
 * Commits ticks and finds out what became of each: repeats what the database asks to repeat, halves what it refuses.
 *
 * 1. At most one statement is under way.
 * 2. After a lost answer, a fence or a lease that ran out nothing more is sent; what was not sent counts as unknown.
 */
import { sleep, type Clock } from '../../kernel/index.js';
import { backoffMs } from './backoff.js';
import type { CommitOutcome, TickOutcome } from './ports.js';
import type { Tick } from './tick.js';

/** What became of one tick. */
export type Verdict =
  /** The tick as it was decided; absent: as it was given. */
  | { readonly kind: TickOutcome; readonly tick?: Tick }
  /** Nothing was written for it, through no fault of its own: it is computed and committed again. */
  | { readonly kind: 'again'; readonly isLockedOut?: boolean }
  /** It may be written; settle() has to come before anything else. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'fenced' }
  /** The database refuses what this tick holds. */
  | { readonly kind: 'refused'; readonly sqlState: string; readonly message: string };

/** What became of a batch; in a batch of the gate lane each tick for itself. */
export type SendOutcome =
  CommitOutcome | { readonly kind: 'decided'; readonly verdicts: readonly Verdict[]; readonly outcome: CommitOutcome };

/** What committing needs. */
export interface CommitEnvironment {
  readonly clock: Clock;
  /** Sends a batch. A store that throws says nothing of what it wrote. */
  readonly send: (ticks: readonly Tick[]) => Promise<SendOutcome>;
  /** Whether the lease holds by this node's own clock. */
  readonly mayCommit: () => boolean;
  /** Told of each statement. */
  readonly committed: (ticks: readonly Tick[], commitMs: number, outcome: CommitOutcome) => void;
}

/** Repeats without a wait; deadlocks and serialization failures are usually gone the next time. */
const FREE_REPEATS = 2;

/** SQLSTATE of a lock that was not to be had in time: others hold it. */
const LOCKED_OUT = '55P03';

/** Shared, so that a batch of a thousand allocates nothing here. */
const VERDICTS: Readonly<Record<TickOutcome, Verdict>> = {
  written: { kind: 'written' },
  conflict: { kind: 'conflict' },
  key_taken: { kind: 'key_taken' },
  unread: { kind: 'unread' },
};
const UNKNOWN: Verdict = { kind: 'unknown' };
const ALONE_LOCKED_OUT: Verdict = { kind: 'again', isLockedOut: true };
const FENCED: Verdict = { kind: 'fenced' };

async function statement(env: CommitEnvironment, ticks: readonly Tick[]): Promise<SendOutcome> {
  const startMs = env.clock.monotonicMs();
  let outcome: SendOutcome;
  try {
    outcome = await env.send(ticks);
  } catch (error) {
    // A store that throws says nothing of what it wrote.
    outcome = { kind: 'unknown', message: error instanceof Error ? error.message : String(error) };
  }
  const told = outcome.kind === 'decided' ? outcome.outcome : outcome;
  env.committed(ticks, env.clock.monotonicMs() - startMs, told);
  return outcome;
}

/** Commits until the answer is not "repeat". */
async function repeated(env: CommitEnvironment, ticks: readonly Tick[]): Promise<SendOutcome> {
  for (let tries = 0; ; tries += 1) {
    if (!env.mayCommit()) return { kind: 'unknown', message: 'the lease of this node ran out' };
    const outcome = await statement(env, ticks);
    if (outcome.kind !== 'repeat' || outcome.sqlState === LOCKED_OUT) return outcome;
    if (tries >= FREE_REPEATS) await sleep(env.clock, backoffMs(tries - FREE_REPEATS));
  }
}

/** Commits both halves, the second only when the first left the connection and the fence as they were. */
async function halves(env: CommitEnvironment, ticks: readonly Tick[]): Promise<readonly Verdict[]> {
  const middle = ticks.length >> 1;
  const first = await commitBatch(env, ticks.slice(0, middle));
  const stop = first.find((verdict) => verdict.kind === 'unknown' || verdict.kind === 'fenced');
  const rest = ticks.slice(middle);
  return [...first, ...(stop === undefined ? await commitBatch(env, rest) : rest.map(() => stop))];
}

/** One verdict per tick, in order. Never throws. */
export async function commitBatch(env: CommitEnvironment, ticks: readonly Tick[]): Promise<readonly Verdict[]> {
  const outcome = await repeated(env, ticks);
  switch (outcome.kind) {
    case 'committed':
      // A store that answers for fewer ticks than it was given is not to be believed for the others.
      return ticks.map((_, index) => {
        const kind = outcome.ticks[index];
        return kind === undefined ? UNKNOWN : VERDICTS[kind];
      });
    case 'decided':
      return outcome.verdicts;
    case 'rejected':
      if (ticks.length > 1) return halves(env, ticks);
      return [{ kind: 'refused', sqlState: outcome.sqlState, message: outcome.message }];
    case 'fenced':
      return ticks.map(() => FENCED);
    case 'repeat':
      // Only a lock that was not to be had comes here: who does not need it is not to wait for it.
      return ticks.length > 1 ? halves(env, ticks) : ticks.map(() => ALONE_LOCKED_OUT);
    case 'unknown':
      return ticks.map(() => UNKNOWN);
  }
}
