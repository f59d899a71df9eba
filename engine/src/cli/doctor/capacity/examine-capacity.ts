/**
 * What the page about pools asks each deployment to verify, done: concurrent admission, descendant cancellation and
 * drain, restart recovery, by a client and in a market of its own that goes again.
 */
import { status } from '@grpc/grpc-js';
import type { ListCapacityResponse } from '../../../gen/ductor/v1/pool.js';
import { type Run, RunState, StepState } from '../../../gen/ductor/v1/run.js';
import { DuctorError, sleep } from '../../../kernel/index.js';
import type { EngineClient } from '../../connect/engine-client.js';
import { fail, ok, warn, type Finding } from '../finding.js';
import { ATTACHED, isClosed, openScratch, SCRATCH_LIMIT, SCRATCH_POOL, type Scratch } from './scratch.js';

/** How restart recovery is looked at. */
export interface RestartWait {
  /** How long somebody has to restart the engine, ms; undefined: nobody will. */
  readonly withinMs: number | undefined;
  /** Tells people what to do. */
  tell(text: string): void;
}

const STARTS = 12;
const FULL = 'recipient_capacity_exhausted';
const REMEDY = 'Do not rely on limits here. See that schema and all engines are of one version; file an issue.';
const LOOK_MS = 200;

/** Runs that were admitted, or what was wrong. */
interface Admitted {
  readonly findings: readonly Finding[];
  readonly runs: readonly Run[];
}

/** A run that has ended, or waits for the child it waits for. */
function isAtRest(run: Run): boolean {
  const waits = run.steps.some(({ path, state }) => path === ATTACHED && state === StepState.STEP_STATE_WAITING);
  return waits || isClosed(run);
}

/** Waits until runs rest; the most that was held meanwhile. undefined: they do not come to rest. */
async function settle(scratch: Scratch, ids: readonly string[]) {
  let peak = 0;
  const runs = await scratch.until(async () => {
    peak = Math.max(peak, await scratch.held());
    const found = await Promise.all(ids.map((id) => scratch.run(id)));
    return found.every(isAtRest) ? found : undefined;
  });
  return runs && { runs, peak };
}

async function boardFinding({ engine, poolId }: Scratch, expected: number): Promise<Finding> {
  const request = { poolId, pagination: { pageSize: 1, cursor: '', nextCursor: '' } };
  const { data } = await engine.ask<ListCapacityResponse>((...rest) => engine.pools.listCapacity(request, ...rest));
  const [line] = data;
  const told = `${line?.held ?? 0} held by ${line?.holderCount ?? 0}, ${line?.free ?? 0} free`;
  const isRight = line?.held === expected && line.holderCount === expected && line.free === SCRATCH_LIMIT - expected;
  if (isRight) return ok('capacity.board', told);
  return fail('capacity.board', told, `It should be ${expected} held by ${expected}.`, REMEDY);
}

/** More runs select at once than there is room for: as many as fit are admitted, all others refused for capacity. */
async function examineAdmission(scratch: Scratch): Promise<Admitted> {
  const check = 'capacity.admission';
  const started = await Promise.all(Array.from({ length: STARTS }, () => scratch.start()));
  const settled = await settle(
    scratch,
    started.map(({ id }) => id),
  );
  if (settled === undefined) {
    const meaning = 'Runs that select do not go on.';
    return { runs: [], findings: [fail(check, `${STARTS} runs did not come to rest in 30 s`, meaning, REMEDY)] };
  }
  const runs = settled.runs.filter((run) => !isClosed(run));
  const others = settled.runs.filter((run) => isClosed(run) && run.error?.code !== FULL);
  const [held, peak] = [await scratch.held(), Math.max(settled.peak, await scratch.held())];
  const asked = `${STARTS} runs at once for ${SCRATCH_LIMIT} units`;
  const told = `${asked}: ${runs.length} admitted, ${held} held, at most ${peak}`;
  if (others.length > 0) {
    const codes = [...new Set(others.map(({ error, state }) => error?.code ?? RunState[state]))].join(', ');
    const meaning = `They were neither admitted nor refused for capacity, but ended with ${codes}.`;
    return { runs, findings: [fail(check, `${others.length} of ${STARTS} runs ended otherwise`, meaning, REMEDY)] };
  }
  if (runs.length !== SCRATCH_LIMIT || held !== SCRATCH_LIMIT || peak > SCRATCH_LIMIT) {
    return { runs, findings: [fail(check, told, `${SCRATCH_LIMIT} should be admitted and held.`, REMEDY)] };
  }
  return { runs, findings: [ok(check, `${told}; the others refused`), await boardFinding(scratch, SCRATCH_LIMIT)] };
}

/** Cancelling the selecting runs cancels the children they wait for, and releases nothing while others go on. */
async function examineDrain(scratch: Scratch, runs: readonly Run[]): Promise<Finding> {
  const check = 'capacity.drain';
  for (const { id } of runs) await scratch.cancel(id);
  const ended = await scratch.until(async () => {
    const found = await Promise.all(runs.map(({ id }) => scratch.run(id)));
    return found.every(isClosed) ? found : undefined;
  });
  if (ended === undefined) {
    return fail(check, 'cancelled runs did not end in 30 s', 'Capacity is not released either.', REMEDY);
  }
  const below = (await Promise.all(runs.map(({ id }) => scratch.below(id)))).flat();
  const open = below.filter((run) => !isClosed(run));
  const cancelled = below.filter(({ state }) => state === RunState.RUN_STATE_CANCELLED);
  if (open.length !== runs.length || cancelled.length !== runs.length) {
    const told = `${cancelled.length} children cancelled and ${open.length} open, of ${runs.length} each`;
    return fail(check, told, 'Cancelling does not reach who is waited for, or reaches who is not.', REMEDY);
  }
  const held = await scratch.held();
  if (held !== runs.length) {
    const told = `${held} held for ${runs.length} families with open runs`;
    return fail(check, told, 'Capacity was released before its descendants had ended.', REMEDY);
  }
  for (const { id } of open) await scratch.cancel(id);
  const isFree = await scratch.until(async () => ((await scratch.held()) === 0 ? true : undefined));
  if (isFree === undefined) {
    return fail(check, `${await scratch.held()} held 30 s after all had ended`, 'Capacity is lost.', REMEDY);
  }
  return ok(check, `${runs.length} cancelled runs kept what they held until the last of their descendants had ended`);
}

/** What is held when an engine that was away answers again; undefined: none was away. */
async function afterRestart(scratch: Scratch, withinMs: number): Promise<number | undefined> {
  const { clock } = scratch.engine;
  const endMs = clock.monotonicMs() + withinMs;
  let wasAway = false;
  while (clock.monotonicMs() < endMs) {
    try {
      const held = await scratch.held();
      if (wasAway) return held;
    } catch (caught) {
      const error = DuctorError.from(caught);
      if (error.kind.grpc !== status[status.UNAVAILABLE]) throw error;
      wasAway = true;
    }
    await sleep(clock, LOOK_MS);
  }
  if (!wasAway) return undefined;
  throw new DuctorError('engine_unreachable', 'the engine did not come back in time');
}

async function examineRestart(scratch: Scratch, runs: readonly Run[], wait: RestartWait): Promise<Finding> {
  const check = 'capacity.restart';
  const meaning = 'A client cannot restart an engine: it is not known whether reservations outlive one here.';
  const remedy = 'Run `ductor doctor --capacity --restart-within 5m` and restart the engine while it waits.';
  if (wait.withinMs === undefined) return warn(check, 'not checked', meaning, remedy);
  wait.tell(`${runs.length} units are held: restart the engine at ${scratch.engine.endpoint.address} now\n`);
  const held = await afterRestart(scratch, wait.withinMs);
  if (held === undefined) return warn(check, 'no restart was seen', meaning, remedy);
  if (held === runs.length) return ok(check, `${held} held before and after a restart`);
  const told = `${runs.length} held before a restart, ${held} after it`;
  return fail(check, told, 'A restart loses or invents reservations.', REMEDY);
}

async function removed(scratch: Scratch): Promise<readonly Finding[]> {
  try {
    await scratch.remove();
    return [];
  } catch (caught) {
    const found = `pool ${SCRATCH_POOL} could not be removed: ${DuctorError.from(caught).message}`;
    const remedy = `End the runs of \`ductor capacity board --pool ${SCRATCH_POOL}\`, delete recipient and pool.`;
    return [warn('capacity.scratch', found, 'The next examination of capacity is refused.', remedy)];
  }
}

/** What an engine does with capacity. Never throws: that something cannot be done is a finding. */
export async function examineCapacity(engine: EngineClient, wait: RestartWait): Promise<readonly Finding[]> {
  let scratch: Scratch;
  try {
    scratch = await openScratch(engine);
  } catch (caught) {
    const { code, message, remedy } = DuctorError.from(caught);
    const isTaken = code === 'pool_exists';
    const meaning = isTaken ? 'Another doctor is at work, or one broke off.' : 'Admission and drain were not checked.';
    const board = `ductor capacity board --pool ${SCRATCH_POOL}`;
    const left = `Wait for it, or end the runs of \`${board}\` and delete recipient and pool.`;
    return [fail('capacity.scratch', message, meaning, isTaken ? left : remedy)];
  }
  const findings: Finding[] = [];
  try {
    const admitted = await examineAdmission(scratch);
    findings.push(...admitted.findings);
    if (admitted.findings.every(({ level }) => level === 'OK')) {
      findings.push(await examineRestart(scratch, admitted.runs, wait));
      findings.push(await examineDrain(scratch, admitted.runs));
    }
  } catch (caught) {
    const { message, remedy } = DuctorError.from(caught);
    findings.push(fail('capacity.examined', message, 'The examination broke off.', remedy));
  }
  return [...findings, ...(await removed(scratch))];
}
