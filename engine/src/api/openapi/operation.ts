/** One operation of the document: a method at one of its places. */
import type { DescField, DescMessage } from '@bufbuild/protobuf';
import type { ContractMethod, HttpBinding } from '../contract/contract.js';
import { readTemplate } from '../rest/template.js';
import { described, fieldSchema, messageSchema, reference, type Comments, type Piece } from './schema.js';

/** An operation with its place. */
export interface Operation {
  readonly path: string;
  /** In lower case. */
  readonly verb: string;
  readonly operation: Piece;
}

const MAX_QUERY_DEPTH = 3;

function isNested({ fieldKind, message }: DescField): boolean {
  return fieldKind === 'message' && message?.typeName.startsWith('google.protobuf.') === false;
}

/** Fields that a query can carry, by their dotted names. */
function queryFields(desc: DescMessage, prefix: string, depth: number): readonly (readonly [string, DescField])[] {
  return desc.fields.flatMap((field): readonly (readonly [string, DescField])[] => {
    const name = `${prefix}${field.name}`;
    const { message } = field;
    if (message !== undefined && isNested(field)) {
      return depth === MAX_QUERY_DEPTH ? [] : queryFields(message, `${name}.`, depth + 1);
    }
    const isFree = message !== undefined && !/\.(Timestamp|Duration|FieldMask)$/.test(message.typeName);
    return isFree ? [] : [[name, field]];
  });
}

function parameters(method: ContractMethod, { body }: HttpBinding, inPath: ReadonlySet<string>, comments: Comments) {
  const path = method.input.fields
    .filter(({ name }) => inPath.has(name))
    .map((field) => {
      const { description, ...schema } = fieldSchema(comments, field);
      const about = description === undefined ? {} : { description };
      return { name: field.name, in: 'path', required: true, ...about, schema };
    });
  if (body === '*') return path;
  const query = queryFields(method.input, '', 0)
    .filter(([name]) => !inPath.has(name) && name.split('.')[0] !== body)
    .map(([name, field]) => {
      const { description, ...schema } = fieldSchema(comments, field);
      const about = description === undefined ? {} : { description };
      return { name, in: 'query', required: false, ...about, schema };
    });
  return [...path, ...query];
}

function requestBody(
  method: ContractMethod,
  { body }: HttpBinding,
  inPath: ReadonlySet<string>,
  comments: Comments,
): Piece {
  if (body === '') return {};
  const field = method.input.fields.find(({ name }) => name === body);
  const whole = inPath.size === 0 ? reference(method.input) : messageSchema(comments, method.input, inPath);
  const schema = field === undefined ? whole : fieldSchema(comments, field);
  // A request whose fields may all be left out needs no body.
  const required = !(field === undefined && method.input.fields.every(({ name }) => inPath.has(name)));
  return { requestBody: { required, content: { 'application/json': { schema } } } };
}

function responses({ kind, output }: ContractMethod): Piece {
  const isStream = kind === 'server_streaming';
  const type = isStream ? 'application/x-ndjson' : 'application/json';
  const lines = 'One JSON object a line. Empty lines are signs of life; a line with `error` ends a failed stream.';
  return {
    200: { description: isStream ? lines : 'Done.', content: { [type]: { schema: reference(output) } } },
    default: { $ref: '#/components/responses/Failed' },
  };
}

/** The operations of a method: one for each binding. */
export function operationsOf(method: ContractMethod, comments: Comments): readonly Operation[] {
  const service = method.service.slice(method.service.lastIndexOf('.') + 1);
  return method.bindings.map((binding, index): Operation => {
    const { segments } = readTemplate(binding.template);
    const inPath = new Set(segments.flatMap((segment) => ('variable' in segment ? [segment.variable] : [])));
    const found = parameters(method, binding, inPath, comments);
    return {
      path: binding.template,
      verb: binding.verb.toLowerCase(),
      operation: {
        operationId: `${service}_${method.name}${index === 0 ? '' : `_${index + 1}`}`,
        tags: [service],
        ...described(comments, method.path.slice(1).replace('/', '.')),
        ...(found.length === 0 ? {} : { parameters: found }),
        ...requestBody(method, binding, inPath, comments),
        responses: responses(method),
      },
    };
  });
}
