/** Questions to the strategies of an app that the engine calls: each is one call. */
import { DuctorError } from '../../kernel/index.js';
import type { StrategyAnswer, StrategyQuestion } from '../../gen/ductor/v1/strategy.js';
import type { Endpoint } from '../endpoint/endpoint.js';
import type { Breaker } from './breaker.js';
import type { CallbackCaller } from './caller.js';
import { signedCall, type SignedCallDeps } from './signed-call.js';

/** Parts of a call. */
interface QuestionCallDeps extends SignedCallDeps {
  readonly caller: CallbackCaller;
}

/** Asks. Throws what the call threw, deadline_exceeded, callback_invalid when the answer is none to this question. */
async function callQuestion(
  deps: QuestionCallDeps,
  endpoint: Endpoint,
  question: StrategyQuestion,
): Promise<StrategyAnswer> {
  const stop = new AbortController();
  const timeoutMs = Math.max(1, Math.min(question.timeoutMs, endpoint.timeoutMs));
  let isLate = false;
  const limit = deps.clock.setTimer(timeoutMs, () => {
    isLate = true;
    stop.abort();
  });
  try {
    const carried = { task: undefined, strategyQuestion: { ...question, questionId: 0n } };
    const answer = await deps.caller.call({
      ...signedCall(deps, endpoint, carried),
      ...{ timeoutMs, signal: stop.signal },
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
