/** What a body came to, in the words of the contract. */
import type { TaskResult } from '../../../engine/src/gen/ductor/v1/bridge.js';
import type { AttemptOutcome } from '../../../engine/src/workflow/machine/index.js';

/** An outcome as workers and apps send it. */
export function outcomeToWire(outcome: AttemptOutcome): NonNullable<TaskResult['outcome']> {
  switch (outcome.kind) {
    case 'completed': {
      const { data, encoding } = outcome.output;
      return { $case: 'output', value: { data: Buffer.from(data), encoding } };
    }
    case 'failed': {
      const { code, message, stack, nonRetryable, retryAfterMs } = outcome;
      return {
        $case: 'error',
        value: { code, message, stack, nonRetryable, retryAfterMs: retryAfterMs ?? 0, causes: [] },
      };
    }
    case 'cancelled':
      return { $case: 'cancelled', value: {} };
  }
}
