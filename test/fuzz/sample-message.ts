/** A message of the contract with something in most of its fields, as JSON: where mutations of requests begin. */
import { ScalarType, type DescField, type DescMessage } from '@bufbuild/protobuf';
import type { Mutator } from './mutate.js';

const MAX_DEPTH = 4;
const TEXTS = [
  'waits',
  'a',
  '2s',
  'chat',
  'input',
  '"x" in routable.tags',
  '019b0000-0000-7000-8000-000000000001',
  'UTC',
];

function scalar(type: ScalarType, mutate: Mutator): unknown {
  if (type === ScalarType.STRING) return mutate.pick(TEXTS);
  if (type === ScalarType.BYTES) return 'AAEC';
  if (type === ScalarType.BOOL) return mutate.below(2) === 0;
  return mutate.pick([0, 1, 2, 60, 1000]);
}

function single({ message, enum: choices, scalar: type }: DescField, mutate: Mutator, depth: number): unknown {
  if (message !== undefined) return sampleMessage(message, mutate, depth + 1);
  if (choices !== undefined) return mutate.pick(choices.values).name;
  return scalar(type ?? ScalarType.STRING, mutate);
}

function fieldOf(field: DescField, mutate: Mutator, depth: number): unknown {
  if (field.fieldKind === 'list') return [single(field, mutate, depth)];
  if (field.fieldKind === 'map') return { key: single(field, mutate, depth) };
  return single(field, mutate, depth);
}

/** Such a message. */
export function sampleMessage(message: DescMessage, mutate: Mutator, depth = 0): unknown {
  switch (message.typeName) {
    case 'google.protobuf.Timestamp':
      return '2026-01-01T00:00:00Z';
    case 'google.protobuf.Duration':
      return '5s';
    case 'google.protobuf.Struct':
      return { amount: 12.5, state: 'TX' };
    case 'google.protobuf.Value':
      return 'x';
    case 'google.protobuf.FieldMask':
      return 'name';
    default:
  }
  if (depth > MAX_DEPTH) return {};
  const oneofs = new Set<string>();
  const entries = message.fields.flatMap((field): readonly [string, unknown][] => {
    const { oneof } = field;
    if (mutate.below(3) === 0 || (oneof !== undefined && oneofs.has(oneof.name))) return [];
    if (oneof !== undefined) oneofs.add(oneof.name);
    return [[field.name, fieldOf(field, mutate, depth)]];
  });
  return Object.fromEntries(entries);
}
