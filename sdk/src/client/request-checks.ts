/** What is refused before it is sent. All throw DuctorError invalid_argument with every problem at once. */
import { FieldChecks } from '../connection/field-checks.js';
import type { ListOptions, TriggerOptions } from './request-options.js';
import { isRunStateName } from './run-view.js';

const TRIGGER_OPTIONS: Readonly<Record<keyof TriggerOptions, true>> = {
  idempotencyKey: true,
  version: true,
  attributes: true,
};
const LIST_OPTIONS: Readonly<Record<keyof ListOptions, true>> = {
  state: true,
  workflow: true,
  startedAfter: true,
  startedBefore: true,
  attributes: true,
  root: true,
  parent: true,
  pageSize: true,
  cursor: true,
};

/** A trigger. */
export function checkTrigger(slug: string, options: TriggerOptions): void {
  const checks = new FieldChecks('trigger');
  const { idempotencyKey, version, attributes } = options;
  checks.names(options, TRIGGER_OPTIONS);
  checks.text('family_slug', slug);
  if (idempotencyKey !== undefined) checks.text('idempotency_key', idempotencyKey);
  if (version !== undefined) checks.whole('version', version);
  if (attributes !== undefined) checks.texts('attributes', attributes);
  checks.done();
}

/** A list of runs. */
export function checkList(options: ListOptions): void {
  const checks = new FieldChecks('list of runs');
  const { state, workflow, startedAfter, startedBefore, attributes, pageSize, cursor } = options;
  checks.names(options, LIST_OPTIONS);
  if (state !== undefined && !isRunStateName(state))
    checks.note('state', state, 'is no state of a run', 'use one such as "RUNNING" or "FAILED"');
  if (workflow !== undefined) checks.text('family_slug', workflow);
  if (startedAfter !== undefined) checks.time('started_after', startedAfter);
  if (startedBefore !== undefined) checks.time('started_before', startedBefore);
  if (attributes !== undefined) checks.texts('attributes', attributes);
  if (pageSize !== undefined) checks.whole('pagination.page_size', pageSize);
  if (cursor !== undefined) checks.text('pagination.cursor', cursor);
  checks.done();
}

/** A call about a run. */
export function checkRunCall(runId: string, reason = ''): void {
  const checks = new FieldChecks('call about a run');
  checks.text('run_id', runId);
  checks.text('reason', reason);
  checks.done();
}
