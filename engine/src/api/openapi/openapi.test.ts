/** The OpenAPI document: well formed, complete, committed as it is, and true of what the engine answers. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { COMMENTS } from '../../gen/comments.js';
import { testDatabase } from '../../store/testing/index.js';
import { startTestNode, type TestNode } from '../grpc/testing/test-node.js';
import { bearer, httpCall, member } from '../testing/http-call.js';
import { boundMethod, syntheticContract } from '../testing/synthetic-contract.js';
import { CONTRACT } from '../testing/three-doors.js';
import { openApiDocument } from './document.js';
import { operationsOf } from './operation.js';

const COMMITTED = fileURLToPath(new URL('../../../../docs/openapi.json', import.meta.url));
const document = openApiDocument(CONTRACT, COMMENTS);

/** What OpenAPI 3.1 allows, as far as this document goes; anything else is refused. */
const schema = z.union([
  z.strictObject({ $ref: z.string().regex(/^#\/components\/schemas\/\w+$/), description: z.string().optional() }),
  z.strictObject({
    type: z.enum(['object', 'array', 'string', 'integer', 'number', 'boolean']).optional(),
    description: z.string().min(1).optional(),
    format: z.string().optional(),
    pattern: z.string().optional(),
    contentEncoding: z.literal('base64').optional(),
    enum: z.array(z.string()).min(1).optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    items: z.lazy((): z.ZodType => schema).optional(),
    properties: z
      .record(
        z.string(),
        z.lazy((): z.ZodType => schema),
      )
      .optional(),
    required: z.array(z.string()).optional(),
    additionalProperties: z.union([z.boolean(), z.lazy((): z.ZodType => schema)]).optional(),
  }),
]);
const someContent = z.record(z.string().regex(/^application\/(json|x-ndjson)$/), z.strictObject({ schema }));
const operation = z.strictObject({
  operationId: z.string().regex(/^\w+$/),
  tags: z.array(z.string()).length(1),
  description: z.string().min(1).optional(),
  parameters: z
    .array(
      z.strictObject({
        name: z.string().min(1),
        in: z.enum(['path', 'query']),
        required: z.boolean(),
        description: z.string().optional(),
        schema,
      }),
    )
    .optional(),
  requestBody: z.strictObject({ required: z.boolean(), content: someContent }).optional(),
  responses: z.strictObject({
    200: z.strictObject({ description: z.string(), content: someContent }),
    default: z.strictObject({ $ref: z.literal('#/components/responses/Failed') }),
  }),
});
const openApi = z.strictObject({
  openapi: z.literal('3.1.0'),
  info: z.strictObject({
    title: z.string(),
    version: z.string(),
    description: z.string(),
    license: z.strictObject({ name: z.string(), identifier: z.string() }),
  }),
  servers: z.array(z.strictObject({ url: z.string() })),
  security: z.array(z.record(z.string(), z.array(z.string()))),
  tags: z.array(z.strictObject({ name: z.string(), description: z.string().optional() })),
  paths: z.record(
    z.string().startsWith('/'),
    z.partialRecord(z.enum(['get', 'put', 'post', 'patch', 'delete']), operation),
  ),
  components: z.strictObject({
    schemas: z.record(z.string().regex(/^\w+$/), schema),
    responses: z.strictObject({
      Failed: z.strictObject({
        description: z.string(),
        headers: z.record(z.string(), z.unknown()),
        content: someContent,
      }),
    }),
    securitySchemes: z.strictObject({
      key: z.strictObject({ type: z.literal('http'), scheme: z.literal('bearer'), description: z.string() }),
    }),
  }),
});
const checked = openApi.parse(document);
const operations = Object.entries(checked.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([verb, each]) => ({ path, verb, ...each })),
);

describe('the document', () => {
  it('is the committed one', () => {
    expect(JSON.parse(readFileSync(COMMITTED, 'utf8'))).toEqual(JSON.parse(JSON.stringify(document)));
  });

  it('has every binding of the contract, each under a name of its own', () => {
    const bindings = [...CONTRACT.methods.values()].flatMap((method) => method.bindings);
    expect(operations.map(({ path, verb }) => `${verb.toUpperCase()} ${path}`).sort()).toEqual(
      bindings.map(({ template, verb }) => `${verb} ${template}`).sort(),
    );
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
    expect(operations.filter(({ description }) => description === undefined)).toEqual([]);
  });

  it('names the variables of each path, and no other', () => {
    for (const { path, parameters = [] } of operations) {
      const variables = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name);
      expect(parameters.filter((each) => each.in === 'path').map(({ name }) => name)).toEqual(variables);
      expect(new Set(parameters.map(({ name }) => name)).size).toBe(parameters.length);
    }
  });

  it('leads nowhere that is not there, and has nothing that nobody leads to', () => {
    const named = new Set(
      [...JSON.stringify(document).matchAll(/#\/components\/schemas\/(\w+)/g)].map(([, name]) => name),
    );
    expect(named).toEqual(new Set(Object.keys(checked.components.schemas)));
  });

  it('shows bodies without what the path has, and fields that a query can carry', () => {
    const [operationOf] = operationsOf(
      boundMethod(syntheticContract(), { verb: 'PATCH', template: '/v1/things/{thing_id}', body: 'thing' }),
      {},
    );
    const parameters = member(operationOf, 'operation', 'parameters');
    const names = Array.isArray(parameters) ? parameters.map((each) => member(each, 'name')) : [];
    expect(names).toEqual(['thing_id', 'update_mask', 'tags']);
    const trigger = operations.find(({ path }) => path.endsWith(':trigger') && path.includes('{'));
    const properties = member(trigger, 'requestBody', 'content', 'application/json', 'schema', 'properties');
    expect(Object.keys(Object(properties))).not.toContain('family_slug');
  });
});

const database = testDatabase();
let node: TestNode;

beforeAll(async () => {
  node = await startTestNode(database.db);
});
afterAll(() => node.stop());

/** A schema of the document as something that checks. */
function checker(name: string): z.ZodType {
  const definitions = JSON.parse(
    JSON.stringify(checked.components.schemas).replaceAll('#/components/schemas/', '#/$defs/'),
  );
  return z.fromJSONSchema({ $defs: definitions, $ref: `#/$defs/${name}` });
}

describe('what the engine answers', () => {
  it('is what the document says, and the other way round', async () => {
    const { apiKey } = await node.tenant('openapi');
    const post = (path: string, body: unknown) =>
      httpCall(node.address, { method: 'POST', path, headers: bearer(apiKey), body: JSON.stringify(body) });
    const step = { ref: 'pause', type: 'STEP_TYPE_WAIT', args: { duration: '1h' } };
    const created = await post('/api/workflows', { family_slug: 'shown', steps: [step] });
    checker('CreateWorkflowResponse').parse(created.json);
    checker('PublishWorkflowResponse').parse((await post('/api/workflows/shown:publish', {})).json);
    const triggered = await post('/api/workflows/shown:trigger', { input: { a: [1] }, attributes: { region: 'CA' } });
    checker('TriggerRunResponse').parse(triggered.json);
    const id = String(member(triggered.json, 'data', 'id'));
    const history = await httpCall(node.address, { path: `/api/runs/${id}/history`, headers: bearer(apiKey) });
    checker('GetRunHistoryResponse').parse(history.json);
    const failed = await post('/api/workflows', {});
    checker('Error').parse(member(failed.json, 'error'));
    expect(() => checker('GetRunResponse').parse(failed.json)).toThrow(z.ZodError);
    expect(() => checker('TriggerRunResponse').parse({ data: { id: 5 } })).toThrow(z.ZodError);
  });
});
