/** The failure of a step that is carried out without attempts. */
import { emit, type Tick } from './tick.js';

/** Why it fails. */
export interface StepFailing {
  readonly code: string;
  readonly message: string;
  /** Default: false, trying again cannot help. */
  readonly retryable?: boolean;
}

/** Fails the step; what follows from its end is still to be done. */
export function failStep(tick: Tick, path: string, { code, message, retryable = false }: StepFailing): void {
  const error = { code, message, step: path, attempt: 0, retryable, stack: '' };
  emit(tick, { kind: 'step_failed', path, attempt: 0, error });
  tick.ended.push(path);
}
