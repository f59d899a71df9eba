/** Declares a routing strategy in code: the engine asks it whom of a pool's candidates gets a piece of work. */
import { FieldChecks } from '../connection/field-checks.js';

/** A recipient that may be chosen. */
export interface StrategyCandidate {
  readonly id: string;
  readonly name: string;
  /** Empty: it has none. */
  readonly externalId: string;
  readonly type: string;
  readonly tags: readonly string[];
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly weight: number;
  readonly tier: number;
  readonly order: number;
  /** Units in use. */
  readonly load: number;
  /** Units it may have in use; undefined: unlimited. */
  readonly limit: number | undefined;
  /** Micros of its currency; undefined: it has no cost. */
  readonly costMicros: bigint | undefined;
  readonly lastAssignedAt: Date | undefined;
  /** Moving average; undefined: not known. */
  readonly latencyMs: number | undefined;
}

/** The work that is routed. */
export interface RoutedWork {
  readonly id: string;
  readonly type: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly priority: number;
  readonly channel: string;
  readonly requiredSkills: readonly string[];
  readonly receivedAt: Date | undefined;
  /** Recipients it was offered to before, the last one first. */
  readonly previousRecipientIds: readonly string[];
}

/** What a strategy is asked. */
export interface StrategyChoice {
  readonly work: RoutedWork;
  /** At least one, in order of their ids: those that the pool's filter lets through now. */
  readonly candidates: readonly StrategyCandidate[];
  readonly poolId: string;
  readonly poolName: string;
  readonly decisionId: string;
  /** Aborts at the deadline: an answer that comes later does not count. */
  readonly signal: AbortSignal;
}

/** Whom a strategy may answer: candidates or their ids, best first. Nobody: undefined, or an empty list. */
export type StrategyPick = StrategyCandidate | string | undefined | readonly StrategyCandidate[] | readonly string[];

/** What defineStrategy takes. */
export interface StrategyOptions {
  /** As pools name it in `strategy_params.name`: a letter, then letters, digits, `.`, `-` and `_`, 64 at most. */
  readonly name: string;
  /** Pools that name a version are answered by apps of that version only. Default: none. */
  readonly version?: string;
  /**
   * Chooses: whom the answer leaves out does not get the work. When it throws, takes too long, or names somebody who is
   * no candidate, the strategy beside it in the pool chooses, and the explanation of the decision says so.
   */
  readonly choose: (choice: StrategyChoice) => StrategyPick | Promise<StrategyPick>;
}

/** A strategy, for `strategies` of createWorker, serveCallbacks and expressCallback. */
export interface AppStrategy extends StrategyOptions {
  readonly version: string;
}

const NAME = /^[A-Za-z][A-Za-z0-9._-]{0,63}$/;
const VERSION_CHARS_MAX = 64;

/** Declares one. Throws DuctorError invalid_argument. */
export function defineStrategy({ name, version = '', choose }: StrategyOptions): AppStrategy {
  const checks = new FieldChecks('strategy');
  if (checks.name('name', name) && !NAME.test(name)) {
    checks.note(
      'name',
      name,
      'is no name of a strategy',
      'begin with a letter; letters, digits, ., - and _; 64 at most',
    );
  }
  checks.text('version', version);
  if (version.length > VERSION_CHARS_MAX) checks.note('version', version, 'is too long', 'use 64 characters at most');
  if (typeof choose !== 'function') checks.note('choose', choose, 'is no function', 'pass a function that chooses');
  checks.done();
  return { name, version, choose };
}
