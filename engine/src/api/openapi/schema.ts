/** JSON Schemas (2020-12, as OpenAPI 3.1 takes them) of the messages and enums of a contract. */
import { ScalarType, type DescEnum, type DescField, type DescMessage } from '@bufbuild/protobuf';

/** A piece of an OpenAPI document: plain JSON. */
export type Piece = { readonly [key: string]: unknown };

/** What is known beside the descriptors: comments by full name. */
export type Comments = Readonly<Record<string, string>>;

const WELL_KNOWN: Readonly<Record<string, Piece>> = {
  'google.protobuf.Timestamp': { type: 'string', format: 'date-time' },
  'google.protobuf.Duration': { type: 'string', pattern: '^-?\\d+(\\.\\d{1,9})?s$' },
  'google.protobuf.FieldMask': { type: 'string' },
  'google.protobuf.Value': { description: 'Any JSON value.' },
  'google.protobuf.Struct': { type: 'object', additionalProperties: true },
  'google.protobuf.ListValue': { type: 'array', items: {} },
};

const INT32: Piece = { type: 'integer', minimum: -(2 ** 31), maximum: 2 ** 31 - 1 };
const UINT32: Piece = { type: 'integer', minimum: 0, maximum: 2 ** 32 - 1 };
const INT64: Piece = { type: 'string', pattern: '^-?\\d{1,20}$', format: 'int64' };

const SCALARS: Readonly<Record<ScalarType, Piece>> = {
  [ScalarType.DOUBLE]: { type: 'number' },
  [ScalarType.FLOAT]: { type: 'number' },
  [ScalarType.INT64]: INT64,
  [ScalarType.UINT64]: INT64,
  [ScalarType.INT32]: INT32,
  [ScalarType.FIXED64]: INT64,
  [ScalarType.FIXED32]: UINT32,
  [ScalarType.BOOL]: { type: 'boolean' },
  [ScalarType.STRING]: { type: 'string' },
  [ScalarType.BYTES]: { type: 'string', contentEncoding: 'base64' },
  [ScalarType.UINT32]: UINT32,
  [ScalarType.SFIXED32]: INT32,
  [ScalarType.SFIXED64]: INT64,
  [ScalarType.SINT32]: INT32,
  [ScalarType.SINT64]: INT64,
};

/** Name of a message or enum among the document's schemas: without its package. */
function schemaName({ typeName, file }: DescMessage | DescEnum): string {
  const name = file.proto.package === '' ? typeName : typeName.slice(file.proto.package.length + 1);
  return name.replaceAll('.', '_');
}

/** A reference to a schema of the document. */
export function reference(desc: DescMessage | DescEnum): Piece {
  return { $ref: `#/components/schemas/${schemaName(desc)}` };
}

function oneOf(field: DescField): Piece {
  const { message, enum: enumeration, scalar } = field;
  if (message !== undefined) return WELL_KNOWN[message.typeName] ?? reference(message);
  return enumeration === undefined ? SCALARS[scalar] : reference(enumeration);
}

/** The description of something, when it has a comment. */
export function described(comments: Comments, fullName: string): Piece {
  const text = comments[fullName];
  return text === undefined ? {} : { description: text };
}

/** The schema of a field with its comment. */
export function fieldSchema(comments: Comments, field: DescField): Piece {
  const about = described(comments, `${field.parent.typeName}.${field.name}`);
  if (field.fieldKind === 'list') return { type: 'array', items: oneOf(field), ...about };
  if (field.fieldKind === 'map') return { type: 'object', additionalProperties: oneOf(field), ...about };
  return { ...oneOf(field), ...about };
}

/** The schema of a message: an object of its fields and no others. */
export function messageSchema(comments: Comments, desc: DescMessage, without: ReadonlySet<string>): Piece {
  const fields = desc.fields.filter(({ name }) => !without.has(name));
  return {
    type: 'object',
    ...described(comments, desc.typeName),
    properties: Object.fromEntries(fields.map((field) => [field.name, fieldSchema(comments, field)])),
    additionalProperties: false,
  };
}

function enumSchema(comments: Comments, desc: DescEnum): Piece {
  const lines = desc.values.map(({ name }) => {
    const about = comments[`${desc.typeName}.${name}`];
    return about === undefined ? `- \`${name}\`` : `- \`${name}\`: ${about}`;
  });
  const intro = comments[desc.typeName];
  const description = [...(intro === undefined ? [] : [intro]), lines.join('\n')].join('\n\n');
  return { type: 'string', enum: desc.values.map(({ name }) => name), description };
}

/** All messages and enums that these messages lead to, by their names. */
export function schemasOf(comments: Comments, roots: Iterable<DescMessage>): Piece {
  const found = new Map<string, Piece>();
  const visit = (desc: DescMessage | DescEnum): void => {
    const name = schemaName(desc);
    if (found.has(name) || desc.typeName in WELL_KNOWN) return;
    if (desc.kind === 'enum') {
      found.set(name, enumSchema(comments, desc));
      return;
    }
    found.set(name, messageSchema(comments, desc, new Set()));
    for (const { message, enum: enumeration } of desc.fields) {
      if (message !== undefined) visit(message);
      if (enumeration !== undefined) visit(enumeration);
    }
  };
  for (const root of roots) visit(root);
  return Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}
