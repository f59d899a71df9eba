/** The OpenAPI 3.1 document of a contract: scripts/generate.mjs writes docs/openapi.json, /openapi.json serves it. */
import type { DescMessage } from '@bufbuild/protobuf';
import { impossible } from '../../kernel/index.js';
import type { Contract } from '../contract/contract.js';
import { operationsOf } from './operation.js';
import { described, reference, schemasOf, type Comments, type Piece } from './schema.js';

const ERROR = 'ductor.v1.Error';

const INTRODUCTION = [
  'Durable workflows, routing and capacity.',
  'Every response is `{"data": …}`; a failure is `{"error": …}` with a code from the catalogue in docs/errors.md.',
  'Field names are those of the contract; unknown fields are refused; fields without presence are always written.',
].join(' ');

function services({ methods }: Contract, comments: Comments): readonly Piece[] {
  const names = new Set(
    [...methods.values()].filter(({ bindings }) => bindings.length > 0).map((each) => each.service),
  );
  return [...names].map((name) => ({ name: name.slice(name.lastIndexOf('.') + 1), ...described(comments, name) }));
}

function paths({ methods }: Contract, comments: Comments): Piece {
  const found: Record<string, Record<string, Piece>> = {};
  for (const { path, verb, operation } of [...methods.values()].flatMap((each) => operationsOf(each, comments))) {
    (found[path] ??= {})[verb] = operation;
  }
  return Object.fromEntries(Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function failed(error: DescMessage): Piece {
  const schema = {
    type: 'object',
    properties: { error: reference(error) },
    required: ['error'],
    additionalProperties: false,
  };
  const header = {
    description: 'Earliest sensible retry, seconds from now; with failures that say when.',
    schema: { type: 'integer' },
  };
  return {
    description: 'What went wrong: code, message, everything that is wrong with the request, and what to do.',
    headers: { 'Retry-After': header },
    content: { 'application/json': { schema } },
  };
}

/** The schemas that others lead to, beginning at these pieces. */
function reached(schemas: Piece, from: readonly Piece[]): Piece {
  const found = new Set<string>();
  const follow = (piece: unknown): void => {
    for (const [, name = ''] of JSON.stringify(piece).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (found.has(name)) continue;
      found.add(name);
      follow(schemas[name]);
    }
  };
  follow(from);
  return Object.fromEntries(Object.entries(schemas).filter(([name]) => found.has(name)));
}

/**
 * Builds the document.
 *
 * @param comments of services, methods, messages and fields, by full name
 */
export function openApiDocument(contract: Contract, comments: Comments): Piece {
  const error = contract.registry.getMessage(ERROR) ?? impossible('openapi-error', `the contract has no ${ERROR}`);
  const bound = [...contract.methods.values()].filter(({ bindings }) => bindings.length > 0);
  const schemas = schemasOf(comments, [error, ...bound.flatMap(({ input, output }) => [input, output])]);
  const [operations, responses] = [paths(contract, comments), { Failed: failed(error) }];
  return {
    openapi: '3.1.0',
    info: {
      title: 'Ductor',
      version: 'v1',
      description: INTRODUCTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ key: [] }],
    tags: services(contract, comments),
    paths: operations,
    components: {
      schemas: reached(schemas, [operations, responses]),
      responses,
      securitySchemes: { key: { type: 'http', scheme: 'bearer', description: 'An API key of a tenant.' } },
    },
  };
}
