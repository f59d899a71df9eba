/** Requests whose fields are fine one by one, and that every door refuses as a whole. */
import type { BrokenRequest } from './broken-requests.js';
import { create, trigger, WAIT } from './request-parts.js';

/** They. */
export const BROKEN_WHOLES: readonly BrokenRequest[] = [
  // What belongs together, or does not.
  {
    name: 'two inputs',
    method: 'TriggerRun',
    json: trigger({ input: 1, input_payload: { data: 'MQ==' } }),
    code: 'invalid_argument',
    path: 'input_payload',
  },
  {
    name: 'a payload that is no JSON',
    method: 'TriggerRun',
    json: trigger({ input_payload: { data: 'ew==' } }),
    code: 'invalid_argument',
    path: 'input_payload.data',
  },
  { name: 'an empty batch', method: 'TriggerRuns', json: { items: [] }, code: 'invalid_argument', path: 'items' },
  {
    name: 'no slug',
    method: 'CreateWorkflow',
    json: { steps: [WAIT] },
    code: 'invalid_definition',
    path: 'family_slug',
  },
  {
    name: 'a slug with spaces',
    method: 'CreateWorkflow',
    json: create({ family_slug: 'a b' }),
    code: 'invalid_definition',
    path: 'family_slug',
  },
  {
    name: 'a slug that is taken',
    method: 'CreateWorkflow',
    json: create({ family_slug: 'waits' }),
    code: 'workflow_exists',
  },
  {
    name: 'a version that is not there',
    method: 'TriggerRun',
    json: trigger({ version: 7 }),
    code: 'workflow_not_published',
  },
  {
    name: 'a record that has moved on',
    method: 'PublishWorkflow',
    json: { workflow_id: 'waits', expected_version: 99 },
    code: 'version_conflict',
  },
  // Definitions that cannot run.
  {
    name: 'a draft with bad CEL',
    method: 'PublishWorkflow',
    json: { workflow_id: 'bad-cel' },
    code: 'invalid_definition',
    path: 'edges[0].condition',
  },
  {
    name: 'a draft with NUL in the name of a step',
    method: 'PublishWorkflow',
    json: { workflow_id: 'nul-ref' },
    code: 'invalid_definition',
    path: 'steps[0].ref',
  },
  {
    name: 'a draft on a cycle',
    method: 'PublishWorkflow',
    json: { workflow_id: 'cycle' },
    code: 'invalid_definition',
    path: 'steps[0]',
  },
  {
    name: 'a workflow without a version',
    method: 'TriggerRun',
    json: { family_slug: 'bad-cel' },
    code: 'workflow_not_published',
  },
  {
    name: 'an input that its schema refuses',
    method: 'TriggerRun',
    json: { family_slug: 'strict', input: { amount: 'much' } },
    code: 'invalid_argument',
    path: 'input',
  },
];
