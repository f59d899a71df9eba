/** The REST request that says the same as the JSON of a message, made from the method's first binding. */
import { isJsonObject, type JsonFields } from '../json/check-message.js';
import type { ContractMethod } from '../contract/contract.js';
import type { HttpCall } from './http-call.js';

/** As it stands in a path or query. */
function textOf(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function queryOf(fields: JsonFields, prefix = ''): readonly string[] {
  return Object.entries(fields).flatMap(([name, value]): readonly string[] => {
    const at = `${prefix}${name}`;
    if (isJsonObject(value)) return queryOf(value, `${at}.`);
    const items: readonly unknown[] = Array.isArray(value) ? value : [value];
    return items.map((item) => `${encodeURIComponent(at)}=${encodeURIComponent(textOf(item))}`);
  });
}

/** The request; its headers are to be added. Throws when the method has no binding. */
export function restTwin(
  { path: name, bindings }: ContractMethod,
  json: JsonFields,
): Required<Omit<HttpCall, 'headers'>> {
  const [binding] = bindings;
  if (binding === undefined) throw new TypeError(`${name} has no binding`);
  const left = { ...json };
  const path = binding.template.replaceAll(/\{([a-z_]+)\}/g, (_, field: string) => {
    const value = left[field];
    delete left[field];
    return encodeURIComponent(textOf(value ?? ''));
  });
  const { verb: method, body } = binding;
  if (body === '*') return { method, path, body: JSON.stringify(left) };
  const inner = left[body];
  delete left[body];
  const query = queryOf(left).join('&');
  const target = query === '' ? path : `${path}?${query}`;
  return { method, path: target, body: inner === undefined ? '' : JSON.stringify(inner) };
}
