/** One seed: things go wrong for a while (safety), then nothing does and all has to come to its end (liveness). */
import type { Plan, RunState } from '../../../engine/src/workflow/machine/index.js';
import { Choices } from '../core/choices.js';
import { Scheduler } from '../core/scheduler.js';
import { Sim } from '../core/sim.js';
import { Trace } from '../core/trace.js';
import type { PlantedBug } from '../cast/engine.js';
import { Faults, type FaultKind } from '../faults.js';
import { Marks, type Mark } from '../marks.js';
import { drawRepeat, drawSignals, drawStart, drawUpdate, drawWorld, type Draw } from './draw.js';
import { Fate } from './fate.js';
import { looseEnds } from './loose-ends.js';
import { compareOutcomes } from '../oracle/outcome-oracle.js';
import { drawPlans, type DrawnPlans } from './plans.js';
import { finishSome, planBenches } from './benches.js';
import { planClaimers, workOff } from './claimers.js';
import { planResets } from './resets.js';
import { lookAfter, planPeople } from './people.js';
import { planReporters } from './reporters.js';
import { wideChoices } from './wide.js';
import { drawWidePlans } from './wide-plans.js';
import { World } from './world.js';

/** What became of a seed. */
export interface SeedReport {
  readonly seed: number;
  /** What must never happen and did; empty when all is well. */
  readonly violations: readonly string[];
  readonly faults: readonly FaultKind[];
  readonly struck: Readonly<Record<string, number>>;
  readonly marks: Readonly<Record<string, number>>;
  readonly events: number;
  readonly virtualMs: number;
  readonly runs: number;
  /** Of these, those that were compared with the machine in one process. */
  readonly compared: number;
  /** SHA-256 of the whole trace. */
  readonly hash: string;
  /** The last lines of the trace. */
  readonly tail: readonly string[];
}

/** How to run a seed. */
export interface SeedOptions {
  readonly bug?: PlantedBug;
  /** Kinds of faults to leave out. */
  readonly without?: ReadonlySet<string>;
  readonly print?: (line: string) => void;
  /** Versions of the family that clients start. Default: drawn from the seed. */
  readonly plans?: readonly Plan[];
  /** What a start of the plan has in its input beside what the simulation checks. Default: nothing. */
  readonly sampleOf?: (plan: Plan) => object;
}

const SECOND_US = 1_000_000;
/** From the healing on every run has so long to end. */
const LIVENESS_US = 15 * 60 * SECOND_US;
/** After the last run ended everything has so long to become quiet. */
const QUIET_US = 30 * SECOND_US;
const OPERATOR_US = 3 * SECOND_US;

function planClients(world: World, draw: Draw, sampleOf: SeedOptions['sampleOf']): void {
  const { sim } = world;
  const { choices, faults, scheduler } = sim;
  for (let n = 1; n <= draw.runs; n += 1) {
    const isPoison = faults.strikes('poison_payload');
    const request = drawStart(choices, world.truth, n, isPoison, sampleOf);
    const atUs = choices.int(0, draw.safetyUs);
    scheduler.at(atUs, null, 'a client comes', () => world.client.start(request, isPoison));
    if (request.startKey === null || isPoison || !faults.strikes('start_doubled')) continue;
    const again = drawRepeat(choices, request);
    const laterUs = choices.chance(0.5) ? choices.int(0, 4_000) : choices.int(0, 9 * SECOND_US);
    scheduler.at(atUs + laterUs, null, 'a client comes again', () => world.client.start(again));
  }
  for (let n = choices.int(0, draw.runs); n > 0; n -= 1) {
    scheduler.at(choices.int(0, draw.safetyUs * 1.2), null, 'a client has something to say', () => say(world, n));
  }
  for (let n = choices.int(0, draw.runs / 3); n > 0; n -= 1) {
    scheduler.at(choices.int(0, draw.safetyUs * 1.2), null, 'a client wants to cancel', () => {
      const run = choices.pick([...world.answers.started.values()]);
      if (run !== undefined) world.client.cancel(run);
    });
  }
}

/** A client sends signals to a run that is open and has been made known. */
function say(world: World, n: number): void {
  const { choices, scheduler } = world.sim;
  const open = [...world.answers.started.values()].flatMap((run) => {
    const state = world.truth.state(run);
    const plan = state === undefined || state.closedAtUs !== null ? undefined : world.truth.planOf(state);
    return plan === undefined || plan.signals.size + plan.updates.size === 0 ? [] : [{ run, plan }];
  });
  const found = choices.pick(open);
  if (found === undefined) return;
  for (const signal of drawSignals(choices, found.plan, n)) {
    scheduler.after(choices.int(0, 20_000), null, 'a client says it', () => world.client.signal(found.run, signal));
  }
}

/** Updates that nobody sends would be waited for without end. One in three is refused by most plans of fixtures. */
function answerWaiting(world: World, state: RunState): void {
  const plan = world.truth.planOf(state);
  for (const { awaits } of state.steps.values()) {
    if (!awaits || plan?.updates.has(awaits.name) !== true) continue;
    const run = { tenantId: state.tenantId, runId: state.runId };
    // Its definition refuses all that the world sends, or it has waited for too long: that is how it ends.
    if (world.sim.choices.chance(0.2)) world.client.cancel(run);
    else world.client.signal(run, drawUpdate(awaits.name, world.sim.choices.int(0, 1_000_000)));
  }
}

/** Somebody looks after parked runs: they are cancelled, which is how a dead letter is closed. */
function operator(world: World): void {
  const { wide } = world.sim;
  for (const state of world.truth.open()) {
    if (wide !== null && lookAfter(world, wide, state)) continue;
    if (state.parked !== null) world.client.cancel({ tenantId: state.tenantId, runId: state.runId });
    answerWaiting(world, state);
  }
  if (wide !== null) {
    workOff(world, wide);
    finishSome(world, wide);
  }
  world.stalls.look(world);
  world.sim.scheduler.after(OPERATOR_US, null, 'the operator looks around', () => operator(world));
}

async function live(world: World, draw: Draw, sampleOf: SeedOptions['sampleOf']): Promise<void> {
  const { sim } = world;
  const { scheduler } = sim;
  const isOver = (): boolean => sim.violations.length > 0;
  const nothing = (): void => undefined;
  for (let count = 0; count < draw.engines; count += 1) world.addEngine(null);
  for (let count = 0; count < draw.workers; count += 1) world.addWorker();
  planClients(world, draw, sampleOf);
  if (sim.wide !== null) {
    planPeople(world, sim.wide, draw.safetyUs);
    planClaimers(world, sim.wide, draw.safetyUs);
    planReporters(world, sim.wide, draw.safetyUs);
    planResets(world, sim.wide, draw.safetyUs);
    planBenches(world, sim.wide, draw.safetyUs);
  }
  new Fate(world).begin();
  await scheduler.run(draw.safetyUs, nothing, isOver);
  sim.note('HEALED');
  sim.faults.heal();
  world.heal();
  operator(world);
  const untilUs = scheduler.nowUs + LIVENESS_US;
  // Clients that come late, and engines that are on their way, belong to it.
  await scheduler.run(scheduler.nowUs + 20 * SECOND_US, nothing, isOver);
  await scheduler.run(
    untilUs,
    nothing,
    () => isOver() || (world.truth.open().length === 0 && world.client.unanswered === 0),
  );
  if (isOver()) return;
  await scheduler.run(scheduler.nowUs + QUIET_US, nothing, isOver);
  if (!isOver()) for (const what of looseEnds(world)) sim.violate(what);
}

/** Plans of a seed; a wide world has more of them. */
function drawnFor(choices: Choices, wide: Choices | null): DrawnPlans {
  const { plans, coming } = drawPlans(choices);
  return { plans: wide === null ? plans : [...plans, ...drawWidePlans(wide)], coming };
}

/** Plans of a caller are there from the beginning. */
function given(plans: readonly Plan[]): DrawnPlans {
  return { plans, coming: [] };
}

function record<K extends string>(counts: ReadonlyMap<K, number>): Readonly<Record<string, number>> {
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Runs one seed to its end. Never rejects for what goes wrong in the world: that stands in the report. */
export async function runSeed(seed: number, options: SeedOptions = {}): Promise<SeedReport> {
  const choices = new Choices(seed);
  // Plans of a caller are all there is to be.
  const wide = options.plans === undefined ? wideChoices(seed) : null;
  const faults = new Faults(choices, options.without ?? new Set(), wide);
  const marks = new Marks();
  const trace = new Trace(options.print ?? null);
  const scheduler = new Scheduler(choices, trace);
  const sim = new Sim(scheduler, choices, faults, marks, trace, wide);
  const draw = drawWorld(choices);
  const bug = options.bug ?? null;
  const world = new World(sim, {
    ...(options.plans === undefined ? drawnFor(choices, wide) : given(options.plans)),
    bug,
    ...draw,
  });
  const rejected = (reason: unknown): void => {
    sim.violate(
      `a promise was rejected and nobody looked: ${reason instanceof Error ? reason.message : String(reason)}`,
    );
  };
  process.on('unhandledRejection', rejected);
  let compared = 0;
  try {
    await live(world, draw, options.sampleOf);
    if (sim.violations.length === 0) compared = compareOutcomes(world);
  } catch (error) {
    sim.violate(`something threw: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  } finally {
    process.off('unhandledRejection', rejected);
  }
  const marksReached: ReadonlyMap<Mark, number> = marks.counts;
  return {
    seed,
    violations: sim.violations,
    faults: faults.kinds,
    struck: record(faults.struck),
    marks: record(marksReached),
    events: scheduler.events,
    virtualMs: Math.round(scheduler.nowUs / 1000),
    runs: world.truth.runs.size,
    compared,
    tail: trace.tail(),
    hash: trace.digest(),
  };
}
