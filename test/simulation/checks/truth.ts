/** What is true: every run as the committed journal says, and what was really said and done outside of it. */
import { impossible } from '../../../engine/src/kernel/index.js';
import type { AttemptRef, RunKey } from '../../../engine/src/workflow/coordinator/ports.js';
import type { AttemptOutcome, Plan, RunState } from '../../../engine/src/workflow/machine/index.js';
import { attemptName, runName } from './names.js';

/** A run by its committed rows. */
export interface TrueRun {
  state: RunState;
  /** Attempts that have an outcome, by path#attempt, with the kind of entry that recorded it. */
  readonly outcomes: Map<string, string>;
  /** Its large values by digest. */
  readonly payloads: Map<string, Uint8Array>;
}

/** The books. */
export class Truth {
  readonly runs = new Map<string, TrueRun>();
  /** Outcomes that workers really produced, by attempt. */
  readonly produced = new Map<string, AttemptOutcome[]>();
  /** Attempts whose results went into a mailbox. */
  readonly mailedResults = new Set<string>();
  /** Runs whose cancel went into a mailbox. */
  readonly mailedCancels = new Set<string>();
  /** What people did to runs that went into a mailbox: the deed and the name of the first run of the chain. */
  readonly mailedDeeds = new Set<string>();
  /** Signals that went into a mailbox. */
  readonly mailedSignals = new Set<string>();
  /** Signals that stand in a journal, and when they were last received, us. */
  readonly heardSignals = new Map<string, number>();
  /** Attempts whose calls were given up: an endpoint may allow less time than the step. */
  readonly givenUp = new Set<string>();
  /** Attempts whose results the database refuses. */
  readonly poisoned = new Set<string>();

  /** By the name of a child: the step whose journal started it. Bodies forget their steps. */
  readonly births = new Map<string, string>();

  /** Steps whose bodies end their worker's process. */
  readonly killers = new Set<string>();
  /** Runs whose first commit was answered "unknown". */
  readonly unknownStarts = new Set<string>();

  /** Those that were published while the world went on. */
  readonly deployed = new Set<number>();

  /**
   * @param plans what the runs execute; family and version name one
   * @param coming what will be published later, in this order
   * @param isBulky step bodies answer with large values
   */
  constructor(
    public plans: readonly Plan[],
    public coming: readonly Plan[],
    readonly tenants: readonly string[],
    readonly isBulky: boolean,
  ) {}

  /** Publishes the next version; undefined: there is none. */
  deploy(): Plan | undefined {
    const [next, ...rest] = this.coming;
    if (next === undefined) return undefined;
    this.plans = [...this.plans, next];
    this.coming = rest;
    this.deployed.add(next.version);
    return next;
  }

  /** Workflows of all plans: workers have the new code before it is published. */
  get families(): readonly string[] {
    return [...new Set([...this.plans, ...this.coming].map(({ familySlug }) => familySlug))];
  }

  /** Handlers of all plans. */
  get handlers(): readonly string[] {
    const steps = [...this.plans, ...this.coming].flatMap((plan) => [...plan.stepByRef.values()]);
    return [...new Set(steps.flatMap((step) => (step.type === 'CALLBACK' ? [step.handler] : [])))];
  }

  /** State of a run by its committed rows; undefined when there is no such run. */
  state(run: RunKey): RunState | undefined {
    return this.runs.get(runName(run))?.state;
  }

  /** Id of the chain of a run: that of its first run. */
  chainId(run: RunKey): string {
    return this.state(run)?.chain?.chainId ?? run.runId;
  }

  /** State of the last run of its chain; undefined when there is no such run. */
  last(run: RunKey): RunState | undefined {
    const state = this.state(run);
    if (state === undefined || state.continuedAs === null) return state;
    return this.last({ tenantId: run.tenantId, runId: state.continuedAs });
  }

  /** The plan of a state. */
  planOf(state: RunState): Plan {
    return this.plan(state.familySlug, state.version) ?? impossible('sim-plan', `${state.familySlug} ${state.version}`);
  }

  /** A plan by its name. */
  plan(familySlug: string, version: number): Plan | undefined {
    return this.plans.find((plan) => plan.familySlug === familySlug && plan.version === version);
  }

  /** The newest version of a family; undefined when there is none. */
  currentVersion(familySlug: string): number | undefined {
    const versions = this.plans.flatMap((plan) => (plan.familySlug === familySlug ? [plan.version] : []));
    return versions.length === 0 ? undefined : Math.max(...versions);
  }

  /** Whether the journal still waits for the outcome of this attempt. */
  awaits(ref: AttemptRef): boolean {
    const state = this.state(ref);
    const step = state?.steps.get(ref.path);
    if (state === undefined || state.closedAtUs !== null || step === undefined || step.attempt !== ref.attempt)
      return false;
    return step.status === 'SCHEDULED' || step.status === 'RUNNING' || step.status === 'CANCELLING';
  }

  /** Whether the journal holds an outcome of this attempt. */
  hasOutcome(ref: AttemptRef): boolean {
    return this.runs.get(runName(ref))?.outcomes.has(`${ref.path}#${ref.attempt}`) ?? false;
  }

  /** A worker produced this. */
  produce(ref: AttemptRef, outcome: AttemptOutcome): void {
    const name = attemptName(ref);
    this.produced.set(name, [...(this.produced.get(name) ?? []), outcome]);
  }

  /** Runs that have not ended. */
  open(): readonly RunState[] {
    return [...this.runs.values()].map((run) => run.state).filter((state) => state.closedAtUs === null);
  }
}
