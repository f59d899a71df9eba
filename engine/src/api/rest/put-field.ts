/** Puts texts of a path or a query into the JSON of a request, where the descriptors say they belong. */
import { ScalarType, type DescField, type DescMessage, type JsonObject, type JsonValue } from '@bufbuild/protobuf';
import { fieldNamed, isJsonObject, note, unknownField, type Check } from '../json/check-message.js';

/** Messages whose JSON is a text: they can be written in a query. */
const TEXT_MESSAGES: ReadonlySet<string> = new Set(
  ['Timestamp', 'Duration', 'FieldMask', 'StringValue', 'BytesValue', 'Int64Value', 'UInt64Value'].map(
    (name) => `google.protobuf.${name}`,
  ),
);

/** A text as the JSON of a field: only truth values are no texts; numbers may be texts in protobuf JSON. */
function jsonOf(field: DescField, text: string): JsonValue {
  if (field.scalar === ScalarType.BOOL && (text === 'true' || text === 'false')) return text === 'true';
  // An enum by its number.
  if (field.enum !== undefined && /^-?\d{1,10}$/.test(text)) return Number(text);
  return text;
}

/** Whether one text can be the whole value of the field, or of one of its items. */
function isText(field: DescField): boolean {
  return field.message === undefined || TEXT_MESSAGES.has(field.message.typeName);
}

interface Parameter {
  readonly check: Check;
  /** As it was written, for problems. */
  readonly name: string;
  readonly text: string;
}

function putLeaf({ check, name, text }: Parameter, object: JsonObject, field: DescField): void {
  if (!isText(field) || field.fieldKind === 'map') {
    const inner = field.message?.fields.map((each) => `${name}.${each.name}`).join(', ') ?? `${name}.key`;
    return note(check, name, text, { problem: 'is an object', remedy: `Name a field of it: ${inner}.` });
  }
  const value = jsonOf(field, text);
  const present = object[field.name];
  if (field.fieldKind === 'list') object[field.name] = [...(Array.isArray(present) ? present : []), value];
  else if (present === undefined) object[field.name] = value;
  else note(check, name, text, { problem: 'is there twice', remedy: 'Send it once.' });
}

function putInto(parameter: Parameter, desc: DescMessage, object: JsonObject, names: readonly string[]): void {
  const { check, name, text } = parameter;
  const [first = '', ...rest] = names;
  const field = fieldNamed(desc, first);
  if (field === undefined) return note(check, name, text, unknownField(desc, first));
  if (rest.length === 0) return putLeaf(parameter, object, field);
  const isOpen = field.fieldKind === 'map' || (field.fieldKind === 'message' && !isText(field));
  if (!isOpen) return note(check, name, text, { problem: 'has no fields', remedy: `Send ${first} itself.` });
  const present = object[field.name];
  const inner: JsonObject = isJsonObject(present) ? present : {};
  object[field.name] = inner;
  if (field.fieldKind === 'map') {
    const key = rest.join('.');
    if (!isText(field) || Object.hasOwn(inner, key) || key === '__proto__') {
      return note(check, name, text, { problem: 'cannot stand here', remedy: 'Send each key once, in the body.' });
    }
    inner[key] = jsonOf(field, text);
    return;
  }
  if (field.message !== undefined) putInto(parameter, field.message, inner, rest);
}

/**
 * Puts a text where a dotted name says: pagination.page_size, attributes.region, attributes[region].
 *
 * @param object JSON of a message of this kind; grows
 */
export function putText(check: Check, desc: DescMessage, object: JsonObject, name: string, text: string): void {
  const dotted = name.replace(/\[([^\]]*)\]$/, '.$1');
  putInto({ check, name: name.slice(0, 200), text }, desc, object, dotted.split('.'));
}
