/** Bounds of requests: so much may be sent, and no more. */
import { create, nested, numbered, trigger, x, type RequestJson } from './request-parts.js';

/** A bound: n may be sent, one more may not. */
export interface Bound {
  readonly name: string;
  readonly method: string;
  readonly n: number;
  make(n: number): RequestJson;
  readonly code: string;
  readonly path: string;
}

/** Bounds. */
export const BOUNDS: readonly Bound[] = [
  {
    name: 'idempotency key',
    method: 'TriggerRun',
    n: 128,
    make: (n) => trigger({ idempotency_key: x(n) }),
    code: 'invalid_argument',
    path: 'idempotency_key',
  },
  {
    name: 'attributes',
    method: 'TriggerRun',
    n: 64,
    make: (n) => trigger({ attributes: Object.fromEntries(numbered(n).map((i) => [`a${i}`, 'b'])) }),
    code: 'invalid_argument',
    path: 'attributes',
  },
  {
    name: 'attribute',
    method: 'TriggerRun',
    n: 256,
    make: (n) => trigger({ attributes: { region: x(n) } }),
    code: 'invalid_argument',
    path: 'attributes.region',
  },
  {
    name: 'attribute name',
    method: 'TriggerRun',
    n: 256,
    make: (n) => trigger({ attributes: { [x(n)]: 'b' } }),
    code: 'invalid_argument',
    path: 'attributes',
  },
  {
    name: 'depth of an input',
    method: 'TriggerRun',
    n: 64,
    make: (n) => trigger({ input: nested(n) }),
    code: 'invalid_argument',
    path: `input${'[0]'.repeat(64)}`,
  },
  {
    name: 'keys of an input',
    method: 'TriggerRun',
    n: 10_000,
    make: (n) => trigger({ input: Object.fromEntries(numbered(n).map((i) => [`k${i}`, i])) }),
    code: 'invalid_argument',
    path: 'input',
  },
  {
    name: 'page size',
    method: 'ListRuns',
    n: 200,
    make: (n) => ({ pagination: { page_size: n } }),
    code: 'invalid_argument',
    path: 'pagination.page_size',
  },
  {
    name: 'page size',
    method: 'ListWorkflows',
    n: 200,
    make: (n) => ({ pagination: { page_size: n } }),
    code: 'invalid_argument',
    path: 'pagination.page_size',
  },
  {
    name: 'page size',
    method: 'ListWorkflowVersions',
    n: 200,
    make: (n) => ({ workflow_id: 'waits', pagination: { page_size: n } }),
    code: 'invalid_argument',
    path: 'pagination.page_size',
  },
  {
    name: 'items of a batch',
    method: 'TriggerRuns',
    n: 1_000,
    make: (n) => ({ items: numbered(n).map(() => ({ family_slug: 'nobody-has' })) }),
    code: 'invalid_argument',
    path: 'items',
  },
  {
    name: 'title',
    method: 'CreateWorkflow',
    n: 256,
    make: (n) => create({ family_slug: `title-${n}`, title: x(n) }),
    code: 'invalid_definition',
    path: 'title',
  },
  {
    name: 'family slug',
    method: 'CreateWorkflow',
    n: 128,
    make: (n) => create({ family_slug: x(n) }),
    code: 'invalid_definition',
    path: 'family_slug',
  },
];
