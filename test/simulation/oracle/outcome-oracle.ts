/** At the end of a world: what its runs came to is what the machine in one process comes to, given the same answers. */
import { runOutput, type RunState } from '../../../engine/src/workflow/machine/index.js';
import type { RunFailure } from '../../../engine/src/workflow/machine/state.js';
import type { Value } from '../../../engine/src/workflow/machine/value.js';
import type { World } from '../scenario/world.js';
import { AGAIN, playAgain, type Played } from './play-again.js';
import { Recorder } from './recorded-run.js';

const RUN_ID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const WORKER = /(?<=^the worker ).+(?= is gone$)/;
const TIMESTAMP = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;
const TOLD_CHARS = 300;

/** Times and ids are others in each world, and stand in what waits and children that nobody waits for come to. */
function plain(text: string): string {
  return text.replaceAll(TIMESTAMP, 'then').replaceAll(RUN_ID, 'some id');
}

function textOf({ data }: Value): string {
  return plain(Buffer.from(data).toString('utf8'));
}

function isSameValue(a: Value | null, b: Value | null): boolean {
  if (a === null || b === null) return a === b;
  return a.encoding === b.encoding && (Buffer.compare(a.data, b.data) === 0 || textOf(a) === textOf(b));
}

function told(value: Value | null): string {
  return value === null ? 'nothing' : textOf(value).slice(0, TOLD_CHARS);
}

function errorText(error: RunFailure | null): string {
  return error === null
    ? 'none'
    : `${error.code} of ${error.step}#${error.attempt}: ${plain(error.message.replace(WORKER, AGAIN))}`;
}

/** What differs; empty: nothing does. */
function* differences(state: RunState, played: Played): Generator<string> {
  if (state.status !== played.state) yield `ended ${state.status}, not ${played.state}`;
  const output = runOutput(state);
  if (!isSameValue(output, played.output)) yield `came to ${told(output)}, not ${told(played.output)}`;
  const [error, other] = [errorText(state.error), errorText(played.error)];
  if (error !== other) yield `has the error ${error}, not ${other}`;
  const steps = new Map(played.steps.map((step) => [step.path, step]));
  for (const { path, status, output: value } of state.steps.values()) {
    const step = steps.get(path);
    steps.delete(path);
    if (step?.state !== status) yield `step ${path} is ${status}, not ${step?.state ?? 'pending'}`;
    else if (!isSameValue(value, step.output)) yield `step ${path} came to ${told(value)}, not ${told(step.output)}`;
  }
  for (const { path, state: status } of steps.values()) yield `step ${path} is pending, not ${status}`;
}

/**
 * Compares every run that is determined. Each difference is a violation.
 *
 * @returns how many were compared
 */
export function compareOutcomes(world: World): number {
  const recorder = new Recorder(world);
  let compared = 0;
  for (const { state } of world.truth.runs.values()) {
    const run = recorder.recorded(state);
    const played = run === null ? null : playAgain(run, world.truth);
    if (played === null) continue;
    compared += 1;
    for (const difference of differences(state, played)) {
      world.sim.violate(`run ${state.runId} of ${state.familySlug} ${state.version} ${difference}`);
    }
  }
  return compared;
}
