/** What a run makes of an update before it is sent, and what it tells of itself: by plan and the last known state. */
import { DuctorError } from '../../kernel/index.js';
import { checkRoom, refuse } from './admit-signal.js';
import { openDraft } from './draft.js';
import { checkSize } from './failure.js';
import type { Plan, PlanUpdate } from './plan.js';
import { isClosed } from './queries.js';
import { expressionsOf } from './scope.js';
import { EMPTY_BOX, hasSeen, type Signal } from './signal-box.js';
import type { RunState } from './state.js';
import { jsonValue, NULL_VALUE, type Value } from './value.js';

function known(what: string, names: readonly string[]): string {
  return names.length === 0 ? `it has no ${what}` : `it has ${names.join(', ')}`;
}

/** The update of a name. Throws update_unknown. */
export function plannedUpdate(plan: Plan, name: string): PlanUpdate {
  const planned = plan.updates.get(name);
  if (planned !== undefined) return planned;
  const what = `${plan.familySlug} version ${plan.version} has no update ${JSON.stringify(name)}`;
  const remedy = plan.signals.has(name) ? 'It is a signal: send it with SignalRun.' : undefined;
  const message = `${what}; ${known('update', [...plan.updates.keys()])}`;
  throw new DuctorError('update_unknown', message, remedy === undefined ? {} : { remedy });
}

/**
 * Whether an update is to be sent: 'repeated' when the run has received it before, and its answer is there or to be
 * waited for. The state must have what `refusal` reads.
 *
 * @throws DuctorError update_unknown, invalid_argument, update_refused, expression_failed, mailbox_full, run_closed
 */
export function admitUpdate(plan: Plan, state: RunState, update: Signal): 'new' | 'repeated' {
  const { name, payload } = update;
  const { check, refusal } = plannedUpdate(plan, name);
  if (hasReceived(state, update)) return 'repeated';
  if (isClosed(state)) throw new DuctorError('run_closed', `run ${state.runId} has ended: ${state.status}`);
  refuse(check(payload), 'Send what the input_schema of the update allows.');
  const why = refusal?.evaluate(expressionsOf(openDraft(state, state.atUs), '', payload)) ?? null;
  if (why !== null) throw new DuctorError('update_refused', `update ${name} is refused: ${why}`);
  checkRoom(state, update);
  return 'new';
}

/** Whether a run has received a signal or update, as far as it remembers. */
export function hasReceived(state: RunState, { name, id }: Pick<Signal, 'name' | 'id'>): boolean {
  return hasSeen(state.signals ?? EMPTY_BOX, name, id, state.atUs);
}

/** Refs of steps whose outputs a query reads. Throws query_unknown. */
export function queryReads(plan: Plan, name: string): readonly string[] {
  const query = plan.queries.get(name);
  if (query !== undefined) return query.reads;
  const what = `${plan.familySlug} version ${plan.version} has no query ${JSON.stringify(name)}`;
  throw new DuctorError('query_unknown', `${what}; ${known('query', [...plan.queries.keys()])}`);
}

/**
 * What a run tells of itself, from its state alone: the same as a worker would see, without one. The state must have
 * what the query reads.
 *
 * @throws DuctorError query_unknown, expression_failed, value_too_large
 */
export function answerQuery(plan: Plan, state: RunState, name: string): Value {
  const query = plan.queries.get(name);
  if (query === undefined) {
    queryReads(plan, name);
    return NULL_VALUE;
  }
  const { source } = query;
  if (source?.kind === 'runInput') return state.input;
  if (source?.kind === 'stepOutput') return state.steps.get(source.path)?.output ?? NULL_VALUE;
  const json = query.evaluate(expressionsOf(openDraft(state, state.atUs), ''));
  return checkSize(jsonValue(json), `the answer to query ${name}`);
}
