/** What a JSON object says of a message, as paths of a field mask. */
import type { DescField, DescMessage, JsonObject, JsonValue } from '@bufbuild/protobuf';
import { fieldNamed, isJsonValueObject } from './check-message.js';

/** Messages whose JSON is not their fields. */
const WELL_KNOWN = 'google.protobuf.';
const PLAIN_KEY = /^[A-Za-z_][A-Za-z0-9_]*$/;

function keyText(key: string): string {
  return PLAIN_KEY.test(key) ? key : `\`${key.replaceAll('`', '``')}\``;
}

/** What lies below a field: the paths of the message or map that stands there, or none. */
function below(field: DescField | undefined, value: JsonValue, prefix: string): readonly string[] {
  if (field === undefined || !isJsonValueObject(value)) return [];
  if (field.fieldKind === 'map') return Object.keys(value).map((key) => `${prefix}.${keyText(key)}`);
  const isOwn = field.fieldKind === 'message' && !field.message.typeName.startsWith(WELL_KNOWN);
  return isOwn ? pathsOf(field.message, value, `${prefix}.`) : [];
}

/**
 * The fields that an object has, as deep as messages go: "title", "config.default_timeout"; keys of maps that are no
 * names stand in backquotes. An empty object is named itself.
 */
export function pathsOf(desc: DescMessage, body: JsonObject, prefix = ''): readonly string[] {
  return Object.entries(body).flatMap(([key, value]) => {
    const field = fieldNamed(desc, key);
    const path = `${prefix}${field?.name ?? key}`;
    const deeper = below(field, value, path);
    return deeper.length === 0 ? [path] : deeper;
  });
}
