/**
 * What endpoints' bodies have done in part: handed to the session, kept here until it is acknowledged.
 *
 * A part: waiting (sent, and sent again with each new session) -> acknowledged | given up
 */
import { DuctorError, equalBytes } from '../../kernel/index.js';
import { orAborted } from '../../egress/index.js';
import { AckState, type ResultAck, type SubStepResult, type Task } from '../../gen/ductor/v1/bridge.js';
import type { SubStepResults } from '../../gen/ductor/v1/callback.js';

interface Waiting {
  readonly part: SubStepResult;
  readonly acknowledged: (ack: ResultAck) => void;
}

/** Why the answer is no parts of this attempt's work, or brings nothing new; null: it is fine. */
export function partsProblem(task: Task, { results }: Pick<SubStepResults, 'results'>): string | null {
  const isOther = results.some(
    ({ runId, path, attempt, token }) =>
      runId !== task.runId || path !== task.path || attempt !== task.attempt || !equalBytes(token, task.token),
  );
  if (isOther) return 'the app answered with a sub-step of something else';
  const known = new Set(task.subSteps.map(({ name }) => name));
  // Each call gets further, so that there is an end to them.
  return results.some(({ name }) => !known.has(name)) ? null : 'the app answered with sub-steps that are recorded';
}

/** The desk of one endpoint. */
export class SubStepDesk {
  readonly #waiting = new Map<bigint, Waiting>();

  /** Parts that nobody acknowledged. */
  unacknowledged(): SubStepResult[] {
    return [...this.#waiting.values()].map(({ part }) => part);
  }

  /** The session answers; does nothing for numbers of something else. */
  acknowledge(ack: ResultAck): void {
    const waiting = this.#waiting.get(ack.resultId);
    this.#waiting.delete(ack.resultId);
    waiting?.acknowledged(ack);
  }

  /**
   * Waits until all parts are recorded; the task as it is to be sent on.
   *
   * @param numbered the parts of an answer that partsProblem let pass, with the numbers of this session
   * @param send hands them to the session
   * Throws callback_invalid for what was refused, request_cancelled when the attempt has ended or the signal aborts.
   */
  async record(
    task: Task,
    numbered: readonly SubStepResult[],
    send: (parts: readonly SubStepResult[]) => void,
    signal: AbortSignal,
  ): Promise<Task> {
    const known = new Set(task.subSteps.map(({ name }) => name));
    const parts = numbered.filter(({ name }) => !known.has(name));
    const acks = parts.map(
      (part) => new Promise<ResultAck>((resolve) => this.#waiting.set(part.resultId, { part, acknowledged: resolve })),
    );
    send(parts);
    try {
      for (const { state, problem } of await orAborted(Promise.all(acks), signal)) {
        if (state === AckState.ACK_STATE_REFUSED) throw new DuctorError('callback_invalid', problem);
        if (state === AckState.ACK_STATE_RECORDED) continue;
        throw new DuctorError('request_cancelled', 'the attempt has ended while its body went on');
      }
    } finally {
      for (const { resultId } of parts) this.#waiting.delete(resultId);
    }
    return { ...task, subSteps: [...task.subSteps, ...parts.map(({ name, output }) => ({ name, output }))] };
  }
}
