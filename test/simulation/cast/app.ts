/**
 * The app that engines call over HTTP to have steps run: one for the whole world, always up, badly connected. Its
 * answers travel as bytes through the engine's own caller.
 *
 *   called -> (body runs) -> answered | answered with something else | its answer lost
 * A body goes on when the call is given up; nobody hears of it then.
 */
import type { EgressAnswer, EgressClient, EgressRequest } from '../../../engine/src/egress/index.js';
import { InvokeRequest, InvokeResponse } from '../../../engine/src/gen/ductor/v1/callback.js';
import type { Task } from '../../../engine/src/gen/ductor/v1/bridge.js';
import { DuctorError } from '../../../engine/src/kernel/index.js';
import type { AttemptRef } from '../../../engine/src/workflow/coordinator/ports.js';
import type { AttemptOutcome } from '../../../engine/src/workflow/machine/index.js';
import { attemptName, shortRef } from '../checks/names.js';
import type { Truth } from '../checks/truth.js';
import type { Actor } from '../core/sim-event.js';
import type { Sim } from '../core/sim.js';
import { outcomeToWire } from '../ports/outcome-to-wire.js';
import { drawBody, drawOutcome } from './body.js';

/** Where the app of a tenant is. */
export function appUrl(tenantId: string): string {
  return `https://app.test/${tenantId}`;
}

const TRAVEL_MAX_US = 6_000;
const RETRY_AFTER_S = 2;

interface Call {
  readonly ref: AttemptRef;
  readonly task: Task;
  readonly url: string;
  /** Engine that waits for the answer. */
  readonly caller: Actor;
  readonly answer: (answer: EgressAnswer) => void;
  readonly fail: (error: DuctorError) => void;
}

/** The app. */
export class App {
  /** Attempts whose bodies run, with how many. */
  readonly #running = new Map<string, number>();

  constructor(
    readonly sim: Sim,
    readonly truth: Truth,
  ) {}

  /** Whether a body of this attempt runs. */
  has(ref: AttemptRef): boolean {
    return this.#running.has(attemptName(ref));
  }

  /**
   * What an engine calls with.
   *
   * @param taken told of each attempt that is on its way
   */
  client(caller: Actor, taken: (ref: AttemptRef) => void): EgressClient {
    return {
      send: (request) =>
        new Promise((answer, fail) => {
          const { task } = InvokeRequest.decode(request.body ?? new Uint8Array(0));
          if (task === undefined) return fail(new DuctorError('callback_invalid', 'no task'));
          const { runId, path, attempt } = task;
          const ref = { tenantId: request.url.slice(appUrl('').length), runId, path, attempt };
          taken(ref);
          this.#watch(request, ref, fail);
          this.#called({ ref, task, url: request.url, caller, answer, fail });
        }),
      close: () => undefined,
    };
  }

  #watch({ signal }: EgressRequest, ref: AttemptRef, fail: (error: DuctorError) => void): void {
    signal?.addEventListener('abort', () => {
      this.truth.givenUp.add(attemptName(ref));
      this.sim.marks.reach('call_given_up');
      fail(new DuctorError('request_cancelled', 'given up'));
    });
  }

  #called(call: Call): void {
    const { scheduler, faults, choices } = this.sim;
    const { caller, ref, fail } = call;
    if (faults.strikes('callback_unreachable')) {
      const gone = new DuctorError('host_unreachable', 'nobody is there');
      scheduler.after(this.#travelUs(), caller, `finds no app for ${shortRef(ref)}`, () => fail(gone));
      return;
    }
    scheduler.after(this.#travelUs(), null, `the app is called for ${shortRef(ref)}`, () => {
      this.#work(call, true);
      if (!faults.strikes('callback_duplicate')) return;
      scheduler.after(choices.int(0, 500_000), null, `the app is called again for ${shortRef(ref)}`, () =>
        this.#work(call, false),
      );
    });
  }

  /** @param isHeard whether somebody waits for the answer */
  #work(call: Call, isHeard: boolean): void {
    const { ref, task } = call;
    const name = attemptName(ref);
    this.#running.set(name, (this.#running.get(name) ?? 0) + 1);
    const workUs = drawBody(this.sim, { ...ref, timeoutMs: task.timeoutMs });
    this.sim.scheduler.after(workUs, null, `the app ends ${shortRef(ref)}`, () => {
      const left = (this.#running.get(name) ?? 1) - 1;
      if (left === 0) this.#running.delete(name);
      else this.#running.set(name, left);
      const outcome = drawOutcome(this.sim, this.truth, ref, 'app', false);
      this.truth.produce(ref, outcome);
      if (isHeard) this.#answer(call, outcome);
    });
  }

  #answer(call: Call, outcome: AttemptOutcome): void {
    const { scheduler, faults, choices } = this.sim;
    const { caller, ref, fail } = call;
    if (faults.strikes('callback_reset')) {
      const reset = new DuctorError('host_unreachable', 'the connection broke in the middle of the answer');
      scheduler.after(this.#travelUs(), caller, `gets half an answer for ${shortRef(ref)}`, () => fail(reset));
      return;
    }
    const lateUs = faults.strikes('callback_late') ? call.task.timeoutMs * 1000 + choices.int(0, 3_000_000) : 0;
    const answer = this.#bytes(call, outcome);
    const label = `gets ${answer.status} for ${shortRef(ref)}`;
    scheduler.after(lateUs + this.#travelUs(), caller, label, () => {
      this.sim.marks.reach('call_answered');
      call.answer(answer);
    });
  }

  /** What stands in the answer. */
  #bytes({ task, url }: Call, outcome: AttemptOutcome): EgressAnswer {
    const { faults, choices } = this.sim;
    if (faults.strikes('callback_5xx')) {
      const headers: Record<string, string> = choices.chance(0.5) ? { 'retry-after': `${RETRY_AFTER_S}` } : {};
      return { status: choices.oneOf(500, 502, 503), headers, body: Buffer.from('out of order'), url };
    }
    if (faults.strikes('callback_garbage')) {
      return { status: 200, headers: {}, body: Buffer.from(choices.random.bytes(choices.int(0, 40))), url };
    }
    const isOfAnother = faults.strikes('callback_mixed_up');
    const { runId, path, attempt, token } = task;
    const of = { runId, path, attempt: isOfAnother ? attempt + 1 : attempt, token };
    const event = { $case: 'result', value: { resultId: 0n, ...of, outcome: outcomeToWire(outcome) } } as const;
    return { status: 200, headers: {}, body: Buffer.from(InvokeResponse.encode({ event }).finish()), url };
  }

  #travelUs(): number {
    return this.sim.choices.int(200, TRAVEL_MAX_US);
  }
}
