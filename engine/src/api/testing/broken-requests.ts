/** Requests that every door must refuse with the same code, telling where and why. */
import { create, step, trigger, x, type RequestJson } from './request-parts.js';

/** A request that is refused. */
export interface BrokenRequest {
  readonly name: string;
  /** Last part of the method's name. */
  readonly method: string;
  /** What JSON says; also what protobuf says, unless `onlyJson`. */
  readonly json: RequestJson;
  readonly code: string;
  /** A path that one of the problems must name; undefined: the code says it all. */
  readonly path?: string;
  /** Protobuf cannot say it: gRPC is sent bytes that are no message instead. */
  readonly onlyJson?: boolean;
}

const RUN = '00000000-0000-7000-8000-000000000000';

/** Requests with a field that is broken by itself. */
export const BROKEN_FIELDS: readonly BrokenRequest[] = [
  // Wrong types: protobuf cannot say them.
  {
    name: 'a title that is a number',
    method: 'CreateWorkflow',
    json: create({ title: 5 }),
    code: 'invalid_argument',
    path: 'title',
    onlyJson: true,
  },
  {
    name: 'steps that are an object',
    method: 'CreateWorkflow',
    json: create({ steps: {} }),
    code: 'invalid_argument',
    path: 'steps',
    onlyJson: true,
  },
  {
    name: 'a step that is a text',
    method: 'CreateWorkflow',
    json: create({ steps: ['pause'] }),
    code: 'invalid_argument',
    path: 'steps[0]',
    onlyJson: true,
  },
  {
    name: 'a type of step that is none',
    method: 'CreateWorkflow',
    json: step({ type: 'STEP_TYPE_WIAT' }),
    code: 'invalid_argument',
    path: 'steps[0].type',
    onlyJson: true,
  },
  {
    name: 'a type of edge that is a truth',
    method: 'CreateWorkflow',
    json: create({ edges: [{ type: true }] }),
    code: 'invalid_argument',
    path: 'edges[0].type',
    onlyJson: true,
  },
  {
    name: 'args that are a list',
    method: 'CreateWorkflow',
    json: step({ args: [] }),
    code: 'invalid_argument',
    path: 'steps[0].args',
    onlyJson: true,
  },
  {
    name: 'attempts in words',
    method: 'CreateWorkflow',
    json: step({ retry: { max_attempts: 'three' } }),
    code: 'invalid_argument',
    path: 'steps[0].retry.max_attempts',
    onlyJson: true,
  },
  {
    name: 'a version below zero',
    method: 'TriggerRun',
    json: trigger({ version: -1 }),
    code: 'invalid_argument',
    path: 'version',
    onlyJson: true,
  },
  {
    name: 'half a version',
    method: 'TriggerRun',
    json: trigger({ version: 1.5 }),
    code: 'invalid_argument',
    path: 'version',
    onlyJson: true,
  },
  {
    name: 'a version of 33 bits',
    method: 'TriggerRun',
    json: trigger({ version: 2 ** 32 }),
    code: 'invalid_argument',
    path: 'version',
    onlyJson: true,
  },
  {
    name: 'attributes that are a list',
    method: 'TriggerRun',
    json: trigger({ attributes: ['a'] }),
    code: 'invalid_argument',
    path: 'attributes',
    onlyJson: true,
  },
  {
    name: 'an attribute that is a number',
    method: 'TriggerRun',
    json: trigger({ attributes: { region: 5 } }),
    code: 'invalid_argument',
    path: 'attributes.region',
    onlyJson: true,
  },
  {
    name: 'bytes that are no base64',
    method: 'TriggerRun',
    json: trigger({ input_payload: { data: '?' } }),
    code: 'invalid_argument',
    path: 'input_payload.data',
    onlyJson: true,
  },
  {
    name: 'a page size in words',
    method: 'ListRuns',
    json: { pagination: { page_size: 'ten' } },
    code: 'invalid_argument',
    path: 'pagination.page_size',
    onlyJson: true,
  },
  {
    name: 'a state that is none',
    method: 'ListRuns',
    json: { state: 'RUN_STATE_RUNING' },
    code: 'invalid_argument',
    path: 'state',
    onlyJson: true,
  },
  // Unknown fields.
  {
    name: 'a misspelt field',
    method: 'CreateWorkflow',
    json: create({ titel: 'x' }),
    code: 'invalid_argument',
    path: 'titel',
    onlyJson: true,
  },
  {
    name: 'a misspelt field of a step',
    method: 'CreateWorkflow',
    json: step({ tilte: 'x' }),
    code: 'invalid_argument',
    path: 'steps[0].tilte',
    onlyJson: true,
  },
  {
    name: 'a misspelt parameter',
    method: 'ListRuns',
    json: { pagination: { pagesize: 5 } },
    code: 'invalid_argument',
    path: 'pagination.pagesize',
    onlyJson: true,
  },
  {
    name: 'a parameter of nothing',
    method: 'GetRun',
    json: { run_id: RUN, verbose: true },
    code: 'invalid_argument',
    path: 'verbose',
    onlyJson: true,
  },
  {
    name: 'a field in both of its forms',
    method: 'CreateWorkflow',
    json: create({ input_schema: {}, inputSchema: {} }),
    code: 'invalid_argument',
    path: 'inputSchema',
    onlyJson: true,
  },
  {
    name: 'a field named __proto__',
    method: 'TriggerRun',
    json: trigger({ input: JSON.parse('{"__proto__": {"a": 1}}') }),
    code: 'invalid_argument',
    path: 'input',
    onlyJson: true,
  },
  {
    name: 'an attribute named __proto__',
    method: 'TriggerRun',
    json: trigger({ attributes: JSON.parse('{"__proto__": "a"}') }),
    code: 'invalid_argument',
    onlyJson: true,
  },
  {
    name: 'half of a pair',
    method: 'TriggerRun',
    json: trigger({ idempotency_key: '\ud800' }),
    code: 'invalid_argument',
    path: 'idempotency_key',
    onlyJson: true,
  },
  // NUL.
  {
    name: 'NUL in a title',
    method: 'CreateWorkflow',
    json: create({ title: 'a\0b' }),
    code: 'invalid_definition',
    path: 'title',
  },
  {
    name: 'NUL in a slug',
    method: 'CreateWorkflow',
    json: create({ family_slug: 'a\0b' }),
    code: 'invalid_definition',
    path: 'family_slug',
  },
  {
    name: 'NUL in args',
    method: 'CreateWorkflow',
    json: step({ args: { duration: '1\0s' } }),
    code: 'invalid_argument',
    path: 'steps[0].args.duration',
  },
  {
    name: 'NUL in an idempotency key',
    method: 'TriggerRun',
    json: trigger({ idempotency_key: '\0' }),
    code: 'invalid_argument',
    path: 'idempotency_key',
  },
  {
    name: 'NUL in an attribute',
    method: 'TriggerRun',
    json: trigger({ attributes: { region: '\0' } }),
    code: 'invalid_argument',
    path: 'attributes.region',
  },
  {
    name: 'NUL in an input',
    method: 'TriggerRun',
    json: trigger({ input: { a: ['\0'] } }),
    code: 'invalid_argument',
    path: 'input.a[0]',
  },
  {
    name: 'NUL in the id of a workflow',
    method: 'GetWorkflow',
    json: { workflow_id: 'a\0b' },
    code: 'invalid_argument',
    path: 'workflow_id',
  },
  {
    name: 'NUL in the id of a run',
    method: 'GetRun',
    json: { run_id: '\0' },
    code: 'invalid_argument',
    path: 'run_id',
  },
  {
    name: 'NUL in a reason',
    method: 'CancelRun',
    json: { run_id: RUN, reason: '\0' },
    code: 'invalid_argument',
    path: 'reason',
  },
  {
    name: 'NUL in a filter',
    method: 'ListRuns',
    json: { family_slug: '\0' },
    code: 'invalid_argument',
    path: 'family_slug',
  },
  {
    name: 'NUL in a cursor',
    method: 'ListRuns',
    json: { pagination: { cursor: '\0' } },
    code: 'invalid_argument',
    path: 'pagination.cursor',
  },
  {
    name: 'a slug of NUL',
    method: 'TriggerRun',
    json: { family_slug: '\0' },
    code: 'invalid_argument',
    path: 'family_slug',
  },
  // Ids.
  { name: 'an id that is none', method: 'GetRun', json: { run_id: 'nope' }, code: 'invalid_argument', path: 'run_id' },
  {
    name: 'an id in capitals',
    method: 'GetRun',
    json: { run_id: RUN.replace('7', 'A') },
    code: 'invalid_argument',
    path: 'run_id',
  },
  {
    name: 'an id of dots',
    method: 'GetRun',
    json: { run_id: '../../etc/passwd' },
    code: 'invalid_argument',
    path: 'run_id',
  },
  {
    name: 'an id of half a page',
    method: 'GetWorkflow',
    json: { workflow_id: x(1_280) },
    code: 'invalid_argument',
    path: 'workflow_id',
  },
  { name: 'a run that is not there', method: 'GetRun', json: { run_id: RUN }, code: 'not_found' },
  {
    name: 'a workflow that is not there',
    method: 'PublishWorkflow',
    json: { workflow_id: 'nobody-has' },
    code: 'not_found',
  },
  {
    name: 'a cursor of another list',
    method: 'ListRuns',
    json: { pagination: { cursor: 'YQ' } },
    code: 'invalid_argument',
    path: 'pagination.cursor',
  },
  {
    name: 'a cursor that is none',
    method: 'GetRunHistory',
    json: { run_id: RUN, pagination: { cursor: '~' } },
    code: 'invalid_argument',
    path: 'pagination.cursor',
  },
];
