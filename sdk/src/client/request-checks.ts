/** What is refused before it is sent. All throw DuctorError invalid_argument with every problem at once. */
import { FieldChecks } from '../connection/field-checks.js';
import type { BatchActionName, BatchFilter, BatchRunOptions, ListOptions, TriggerOptions } from './request-options.js';
import { isRunStateName } from './run-view.js';

const TRIGGER_OPTIONS: Readonly<Record<keyof TriggerOptions, true>> = {
  idempotencyKey: true,
  runKey: true,
  onOpen: true,
  version: true,
  attributes: true,
  retention: true,
};
const ON_OPEN: Readonly<Record<NonNullable<TriggerOptions['onOpen']>, true>> = { answer: true, refuse: true };
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

const BATCH_ACTIONS: Readonly<Record<BatchActionName, true>> = {
  ...{ CANCEL: true, TERMINATE: true, PAUSE: true, RESUME: true, RETRY: true },
};
const { pageSize: _pageSize, cursor: _cursor, ...FILTER_OPTIONS } = LIST_OPTIONS;
const BATCH_FILTER: Readonly<Record<keyof BatchFilter, true>> = { ...FILTER_OPTIONS, fingerprint: true };
const BATCH_OPTIONS: Readonly<Record<keyof BatchRunOptions, true>> = {
  ...{ confirmation: true, reason: true, pageSize: true, cursor: true },
};

/** A trigger. */
export function checkTrigger(slug: string, options: TriggerOptions): void {
  const checks = new FieldChecks('trigger');
  const { idempotencyKey, runKey, onOpen, version, attributes, retention } = options;
  checks.names(options, TRIGGER_OPTIONS);
  checks.text('family_slug', slug);
  if (idempotencyKey !== undefined) checks.text('idempotency_key', idempotencyKey);
  if (runKey !== undefined) checks.text('run_key', runKey);
  if (onOpen !== undefined && !Object.hasOwn(ON_OPEN, onOpen))
    checks.note('on_open', onOpen, 'is neither "answer" nor "refuse"', 'use one of them');
  if (version !== undefined) checks.whole('version', version);
  if (attributes !== undefined) checks.texts('attributes', attributes);
  if (retention !== undefined) checks.text('retention', retention);
  checks.done();
}

/** What narrows a list of runs. */
function filter(checks: FieldChecks, options: Omit<ListOptions, 'pageSize' | 'cursor'>): void {
  const { state, workflow, startedAfter, startedBefore, attributes } = options;
  if (state !== undefined && !isRunStateName(state))
    checks.note('state', state, 'is no state of a run', 'use one such as "RUNNING" or "FAILED"');
  if (workflow !== undefined) checks.text('family_slug', workflow);
  if (startedAfter !== undefined) checks.time('started_after', startedAfter);
  if (startedBefore !== undefined) checks.time('started_before', startedBefore);
  if (attributes !== undefined) checks.texts('attributes', attributes);
}

/** A list of runs. */
export function checkList(options: ListOptions): void {
  const checks = new FieldChecks('list of runs');
  const { pageSize, cursor } = options;
  checks.names(options, LIST_OPTIONS);
  filter(checks, options);
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

/** A batch; without options its preview. */
export function checkBatch(action: string, filters: BatchFilter, options: Partial<BatchRunOptions>): void {
  const checks = new FieldChecks('batch of runs');
  const { confirmation, reason, pageSize, cursor } = options;
  if (!Object.hasOwn(BATCH_ACTIONS, action))
    checks.note('action', action, 'is no action', `use one of ${Object.keys(BATCH_ACTIONS).join(', ')}`);
  checks.names(filters, BATCH_FILTER);
  checks.names(options, BATCH_OPTIONS);
  filter(checks, filters);
  for (const [path, text] of Object.entries({
    ...{ root_run_id: filters.root, parent_run_id: filters.parent, fingerprint: filters.fingerprint },
    ...{ confirmation, reason, cursor },
  })) {
    if (text !== undefined) checks.text(path, text);
  }
  if (pageSize !== undefined) checks.whole('page_size', pageSize);
  checks.done();
}

/** A list of dead letters. */
export function checkDeadLetters(workflow: string): void {
  const checks = new FieldChecks('list of dead letters');
  checks.text('family_slug', workflow);
  checks.done();
}
