/** What goes wrong in the simulated world. Each seed draws some kinds and how often they strike. */
import { Choices } from './core/choices.js';

/** Kinds that strike a message or a call, with the highest rate drawn, per call. */
const BY_CALL = {
  /** A call of the store never arrives. */
  store_lost_before: 0.06,
  /** A call of the store happens, its answer is lost. */
  store_lost_after: 0.06,
  /** The answer of a commit is lost, and the commit happens later, unless it is settled first. */
  commit_late: 0.12,
  /** A commit is sent twice by what stands between; the answer to the second is told. */
  commit_doubled: 0.08,
  /** The database wants a batch repeated (40001). */
  commit_repeat: 0.06,
  /** A batch lost a deadlock (40P01). */
  deadlock: 0.04,
  /** A call of the store takes 50 ms to 2.5 s. */
  store_slow: 0.06,
  /** A payload that the database refuses. */
  poison_payload: 0.03,
  bus_loss: 0.9,
  bus_duplicate: 0.3,
  /** A message of the bus comes up to 3 s late, behind others. */
  bus_delay: 0.3,
  /** A message of the bus is overtaken by those of the next moments. */
  bus_reorder: 0.4,
  /** A result is lost on its way; the worker sends it again. */
  result_lost: 0.2,
  /** A result is sent twice. */
  result_doubled: 0.2,
  /** A result goes to another engine than the one that gave the task. */
  result_wrong_node: 0.5,
  /** A step body takes longer than its timeout. */
  worker_slow: 0.15,
  /** A step body ends its worker's process, again and again. */
  body_kills_worker: 0.08,
  /** A step body answers with hundreds of kilobytes, now and then with more than a value may have. */
  huge_payload: 0.04,
  /** A step body ends with an error. */
  step_failure: 0.3,
  /** A worker sends a result for an attempt nobody gave it. */
  result_made_up: 0.1,
  /** Somebody sends a result with a token that is not that of the attempt. */
  token_forged: 0.15,
  /** A call finds no app. */
  callback_unreachable: 0.3,
  /** A call arrives twice. */
  callback_duplicate: 0.3,
  /** An answer comes when its time is over. */
  callback_late: 0.2,
  /** The connection breaks in the middle of an answer. */
  callback_reset: 0.25,
  /** The app answers that it is out of order. */
  callback_5xx: 0.3,
  /** The answer is no message. */
  callback_garbage: 0.25,
  /** The answer is the result of another attempt. */
  callback_mixed_up: 0.25,
  /** A worker does not stop when it is told to. */
  abort_ignored: 0.5,
  /** A client repeats a start under its idempotency key, now and then with another input. */
  start_doubled: 0.4,
  /** The clock of an engine's machine is up to five minutes off when it starts. */
  clock_skew: 1,
} as const;

/** Kinds that strike now and then, with the shortest mean time between two, in seconds. */
const BY_TIME = {
  engine_crash: 8,
  /** An engine stands still for longer than its lease, then goes on: the zombie. */
  engine_pause: 8,
  /** An engine stands still for up to 900 ms. */
  engine_stall: 3,
  /** An engine is told to stop and is replaced. */
  engine_stop: 10,
  /** One more engine joins. */
  engine_join: 10,
  /** The session that shows that an engine is alive breaks; the engine lives. */
  session_flap: 5,
  /** The heartbeats of an engine do not come through, while its other connections work. */
  heartbeat_loss: 6,
  /** The estimate of database time moves within its error bound. */
  clock_step: 3,
  database_outage: 12,
  /** A standby takes over: for a while connections lead to the old server, which refuses. */
  failover: 14,
  /** All connections of an engine are busy for a while. */
  pool_exhausted: 8,
  /** The connections of an engine are cut: what is under way gets no answer. */
  connection_killed: 5,
  /** The bus carries nothing for a while. */
  bus_outage: 8,
  /** A new version of a workflow is published while runs of older ones are under way. */
  deploy: 10,
  /** Room of a pool is changed while it is held. */
  limit_lowered: 6,
  /** Nobody is up for an hour or for days. */
  night: 7,
  worker_crash: 6,
  /** The streams of a worker break; it comes back with its inventory. */
  worker_disconnect: 3,
  /** A worker and an engine do not see each other for longer than a worker may be gone. */
  worker_partition: 12,
} as const;

/** Kinds that strike now and then, in wide worlds alone: they are drawn from a stream of their own. */
const BY_TIME_IF_WIDE = {
  /** The clock of an engine's machine is stepped by minutes while the engine runs. */
  clock_jump: 5,
} as const;

/** Kinds that strike a call, in wide worlds alone. */
const BY_CALL_IF_WIDE = {
  /** Somebody else has the accounts that a batch of the gate lane needs, for longer than it waits (55P03). */
  accounts_locked: 0.3,
} as const;

const EVERY_BY_CALL = { ...BY_CALL, ...BY_CALL_IF_WIDE } as const;
const EVERY_BY_TIME = { ...BY_TIME, ...BY_TIME_IF_WIDE } as const;

/** A kind that strikes a call. */
export type CallFault = keyof typeof EVERY_BY_CALL;
/** A kind that strikes now and then. */
export type TimedFault = keyof typeof EVERY_BY_TIME;
/** A kind of fault. */
export type FaultKind = CallFault | TimedFault;

function namesOf<T extends string>(table: Readonly<Record<T, number>>): readonly T[] {
  const names: T[] = [];
  for (const name in table) names.push(name);
  return names;
}

/** All kinds that strike now and then. */
export const TIMED_FAULTS = namesOf(EVERY_BY_TIME);
/** All kinds. */
export const FAULT_KINDS: readonly FaultKind[] = [...namesOf(EVERY_BY_CALL), ...TIMED_FAULTS];

/** Share of all kinds that a seed draws on average. */
const SWARM_SHARE = 0.4;

/** The faults of one seed. */
export class Faults {
  readonly #rates = new Map<FaultKind, number>();
  /** Each kind has its own stream, so that leaving one out changes as little as can be of what the others do. */
  readonly #streams = new Map<FaultKind, Choices>();
  readonly #struck = new Map<FaultKind, number>();
  #isHealed = false;

  /**
   * @param without kinds to leave out although the seed draws them
   * @param wide what wide worlds draw from; null: this is none
   */
  constructor(choices: Choices, without: ReadonlySet<string>, wide: Choices | null = null) {
    const isFair = choices.chance(0.04);
    for (const kind of FAULT_KINDS) {
      const from = kind in BY_TIME_IF_WIDE || kind in BY_CALL_IF_WIDE ? wide : choices;
      if (from === null) continue;
      this.#streams.set(kind, new Choices(from.random.uint32()));
      const isDrawn = from.chance(SWARM_SHARE);
      const share = 0.1 + 0.9 * from.unit();
      if (isDrawn && !isFair && !without.has(kind)) this.#rates.set(kind, share);
    }
  }

  /** Kinds this seed drew. */
  get kinds(): readonly FaultKind[] {
    return [...this.#rates.keys()];
  }

  /** How often each kind struck. */
  get struck(): ReadonlyMap<FaultKind, number> {
    return this.#struck;
  }

  get isHealed(): boolean {
    return this.#isHealed;
  }

  /** From now on nothing goes wrong. */
  heal(): void {
    this.#isHealed = true;
  }

  /** Whether this call is struck. */
  strikes(kind: CallFault): boolean {
    const share = this.#rates.get(kind);
    if (share === undefined || this.#isHealed) return false;
    const isStruck = this.#streams.get(kind)?.chance(EVERY_BY_CALL[kind] * share) ?? false;
    if (isStruck) this.count(kind);
    return isStruck;
  }

  /** Microseconds until this kind strikes next; null: never. */
  nextUs(kind: TimedFault): number | null {
    const share = this.#rates.get(kind);
    if (share === undefined || this.#isHealed) return null;
    return this.#streams.get(kind)?.exponential((EVERY_BY_TIME[kind] / share) * 1_000_000) ?? null;
  }

  count(kind: FaultKind): void {
    this.#struck.set(kind, (this.#struck.get(kind) ?? 0) + 1);
  }
}
