/** Questions to the strategies of an app that the engine calls: each is one call. */
import { DuctorError, type Clock } from '../../kernel/index.js';
import { InvokeRequest } from '../../gen/ductor/v1/callback.js';
import type { StrategyAnswer, StrategyQuestion } from '../../gen/ductor/v1/strategy.js';
import type { Endpoint } from '../endpoint/endpoint.js';
import type { Breaker } from './breaker.js';
import type { CallbackCaller } from './caller.js';
import type { CallbackSigner } from './signer.js';

/** Parts of a call. */
interface QuestionCallDeps {
  readonly clock: Clock;
  readonly newId: () => string;
  readonly signer: CallbackSigner;
  readonly caller: CallbackCaller;
}

/**
 * Asks. Throws what the call threw, deadline_exceeded, callback_invalid when the answer is none to this question.
 *
 * @param signal gives it up
 */
async function callQuestion(
  { clock, newId, signer, caller }: QuestionCallDeps,
  endpoint: Endpoint,
  question: StrategyQuestion,
): Promise<StrategyAnswer> {
  const { endpointId, audience, url } = endpoint;
  const strategyQuestion = { ...question, questionId: 0n };
  const bytes = InvokeRequest.encode({ audience, endpointId, task: undefined, strategyQuestion }).finish();
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const signature = signer.sign(endpoint, newId(), Math.floor(clock.nowUs() / 1_000_000), body);
  const stop = new AbortController();
  const timeoutMs = Math.max(1, Math.min(question.timeoutMs, endpoint.timeoutMs));
  let isLate = false;
  const limit = clock.setTimer(timeoutMs, () => {
    isLate = true;
    stop.abort();
  });
  try {
    const answer = await caller.call({
      ...{ url, body, signature, timeoutMs, signal: stop.signal },
      beat: () => undefined,
    });
    if (answer.$case === 'strategyAnswer') return { ...answer.value, questionId: question.questionId };
    throw new DuctorError('callback_invalid', 'the app answered something else than the question');
  } catch (error) {
    if (isLate) throw new DuctorError('deadline_exceeded', `the app did not answer within ${timeoutMs} ms`);
    throw error;
  } finally {
    limit.cancel();
  }
}

/** What came of a question. */
export interface CalledAnswer {
  /** null: none came in time, which whoever asked notices by itself. */
  readonly outcome: StrategyAnswer['outcome'] | null;
  /** Why the call brought no answer; undefined: it did, or there was none. */
  readonly failure?: string;
}

/** Asks the app, unless its circuit is open. What is no answer is said to be none, and counts for the circuit. */
export async function answerByCall(
  deps: QuestionCallDeps,
  endpoint: Endpoint,
  breaker: Breaker,
  question: StrategyQuestion,
): Promise<CalledAnswer> {
  const circuit = breaker.circuit(deps.clock.monotonicMs());
  if (circuit === 'open') return { outcome: { $case: 'problem', value: 'the endpoint does not answer at the moment' } };
  try {
    const { outcome } = await callQuestion(deps, endpoint, question);
    breaker.succeeded();
    return { outcome };
  } catch (caught) {
    const { code, message } = DuctorError.from(caught);
    const failure = `${code}: ${message}`;
    breaker.failed(deps.clock.monotonicMs(), circuit === 'half_open');
    const isPast = code === 'deadline_exceeded' && question.timeoutMs <= endpoint.timeoutMs;
    return { outcome: isPast ? null : { $case: 'problem', value: failure }, failure };
  }
}
