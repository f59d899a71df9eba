/** What a run says of a step: of one in a body, all its instances together. */
import type { Run, StepRun } from '../../gen/ductor/v1/run.js';
import type { Mark } from '../dag/graph.js';
import type { Tone } from '../output/paint.js';
import { stepMark, stepStateName } from './marks.js';

/** The state of a step in a run; of a step in a body: of all its instances that the run still shows. */
export interface StepStanding {
  /** Of the instance that needs most attention. */
  readonly mark: Mark;
  /** Of the same: "FAILED". */
  readonly name: string;
  /** For people: "RUNNING", "2 RUNNING, 1 FAILED", "COMPLETED, 3 of 4 done, 1 failed". */
  readonly text: string;
}

/** Sign of a step of which a run says nothing: it has not come there, or has forgotten what an item did. */
export const NO_STATE: Mark = { unicode: ' ', ascii: ' ', tone: 'quiet' };

/** Of several instances the one that people should hear of first decides. */
const URGENCY: readonly Tone[] = ['bad', 'warning', 'active', 'quiet', 'good'];

function progressText({ body }: StepRun): string {
  if (body === undefined) return '';
  const { count, completed, failed, stopped } = body;
  const done = `, ${completed} of ${count} done`;
  return `${done}${failed > 0 ? `, ${failed} failed` : ''}${stopped > 0 ? `, ${stopped} stopped` : ''}`;
}

function standingOf(instances: readonly [StepRun, ...StepRun[]]): StepStanding {
  const urgency = ({ state }: StepRun): number => URGENCY.indexOf(stepMark(state).tone);
  const first = instances.reduce((most, step) => (urgency(step) < urgency(most) ? step : most));
  const name = stepStateName(first.state);
  const counts = new Map<string, number>();
  for (const { state } of instances) counts.set(stepStateName(state), (counts.get(stepStateName(state)) ?? 0) + 1);
  const tally = [...counts].map(([each, count]) => `${count} ${each}`).join(', ');
  return { mark: stepMark(first.state), name, text: instances.length === 1 ? `${name}${progressText(first)}` : tally };
}

/** Standings by ref. A ref is unique in a definition, so that the last part of a path tells the step. */
export function standings({ steps }: Run): ReadonlyMap<string, StepStanding> {
  const byRef = new Map<string, [StepRun, ...StepRun[]]>();
  for (const step of steps) {
    const ref = step.path.slice(step.path.lastIndexOf('/') + 1);
    const known = byRef.get(ref);
    if (known === undefined) byRef.set(ref, [step]);
    else known.push(step);
  }
  return new Map([...byRef].map(([ref, instances]) => [ref, standingOf(instances)]));
}
