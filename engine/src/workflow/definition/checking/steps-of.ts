/** The steps of a definition that is being checked. */
import type { ReadStep } from './check-step.js';
import type { ReadLevel } from './read-level.js';

/** All steps of a level and of the bodies in it, each with whether it stands in a body. */
export function* stepsOf(level: ReadLevel, isInBody: boolean): Generator<readonly [ReadStep, boolean], undefined> {
  for (const step of level.steps) yield [step, isInBody];
  for (const body of level.bodies.values()) yield* stepsOf(body, true);
}
