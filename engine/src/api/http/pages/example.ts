/** Requests that show how a method is called, made from its descriptors. */
import { ScalarType, type DescField, type DescMessage } from '@bufbuild/protobuf';
import type { ContractMethod, HttpBinding } from '../../contract/contract.js';

const MAX_DEPTH = 2;
const TEXTS: Readonly<Record<string, unknown>> = {
  'google.protobuf.Timestamp': '2026-01-31T12:00:00Z',
  'google.protobuf.Duration': '1.5s',
  'google.protobuf.Value': {},
  'google.protobuf.Struct': {},
};

function exampleOf(field: DescField, depth: number): unknown {
  const { message, enum: enumeration, scalar } = field;
  if (message !== undefined) return TEXTS[message.typeName] ?? exampleMessage(message, depth + 1, new Set());
  if (enumeration !== undefined) return enumeration.values.find(({ number }) => number !== 0)?.name ?? '';
  if (scalar === ScalarType.STRING || scalar === ScalarType.BYTES) return '';
  return scalar === ScalarType.BOOL ? false : 0;
}

function exampleMessage(desc: DescMessage, depth: number, without: ReadonlySet<string>): Record<string, unknown> {
  const fields = desc.fields.filter(({ name, message }) => !without.has(name) && !(message && depth > MAX_DEPTH));
  const values = fields.map((field): [string, unknown] => {
    if (field.fieldKind === 'map') return [field.name, {}];
    return [field.name, field.fieldKind === 'list' ? [exampleOf(field, depth)] : exampleOf(field, depth)];
  });
  return Object.fromEntries(values);
}

const variable = (name: string): string => `$${name.toUpperCase().replaceAll('.', '_')}`;

/** A call by curl. Ids in the path are shell variables. */
export function curlExample({ input }: ContractMethod, { verb, template, body }: HttpBinding, base: string): string {
  const names = [...template.matchAll(/\{([a-z0-9_.]+)\}/g)].map(([, name = '']) => name);
  const path = template.replaceAll(/\{([a-z0-9_.]+)\}/g, (_, name: string) => variable(name));
  const parts = [
    `curl -s${verb === 'GET' ? '' : ` -X ${verb}`} "${base}${path}"`,
    `-H "authorization: Bearer $DUCTOR_API_KEY"`,
  ];
  const field = input.fields.find(({ name }) => name === body);
  const json = field === undefined ? exampleMessage(input, 0, new Set(names)) : exampleOf(field, 0);
  if (body !== '') parts.push(`-H 'content-type: application/json'`, `-d '${JSON.stringify(json)}'`);
  return parts.join(' \\\n  ');
}

/** The same call by Connect. */
export function connectExample({ input, path }: ContractMethod, base: string): string {
  const json = JSON.stringify(exampleMessage(input, 0, new Set()));
  const key = '-H "authorization: Bearer $DUCTOR_API_KEY"';
  return [`curl -s "${base}${path}"`, key, `-H 'content-type: application/json'`, `-d '${json}'`].join(' \\\n  ');
}
