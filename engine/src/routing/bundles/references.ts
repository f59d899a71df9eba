/** Where objects name other ones: every such place, to put names in the place of ids, and the other way round. */
import type { BundleKind, JsonObject } from './bundle.js';

/** What a reference becomes. `path` says where it stands: `config.fallback[0].target`. */
export interface Referring {
  readonly pool: (text: string, path: string) => string;
  readonly recipient: (text: string, path: string) => string;
  readonly claim_queue: (text: string, path: string) => string;
}

type Change = (text: string, path: string) => string;

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object with another value under a key that it has. */
function changed(object: JsonObject, key: string, change: (value: unknown) => unknown): JsonObject {
  return Object.hasOwn(object, key) ? { ...object, [key]: change(object[key]) } : object;
}

function changedText(object: JsonObject, key: string, at: string, change: Change): JsonObject {
  return changed(object, key, (value) => (typeof value === 'string' && value !== '' ? change(value, at + key) : value));
}

function changedFallback(fallback: unknown, at: string, refer: Referring): unknown {
  if (Array.isArray(fallback)) {
    const all: readonly unknown[] = fallback;
    return all.map((each, index) => changedFallback(each, `${at}[${index}]`, refer));
  }
  if (!isObject(fallback)) return fallback;
  const { kind } = fallback;
  if (kind === 'overflow' || kind === 'catchall') return changedText(fallback, 'target', `${at}.`, refer.pool);
  if (kind === 'claim') return changedText(fallback, 'target', `${at}.`, refer.claim_queue);
  return kind === 'default_recipient' ? changedText(fallback, 'target', `${at}.`, refer.recipient) : fallback;
}

function changedPool(fields: JsonObject, refer: Referring): JsonObject {
  return changed(fields, 'config', (config) => {
    if (!isObject(config)) return config;
    const pools = ['overflow_pool_id', 'catchall_pool_id'].reduce(
      (object, key) => changedText(object, key, 'config.', refer.pool),
      config,
    );
    const both = changedText(pools, 'fallback_recipient_id', 'config.', refer.recipient);
    const all = changedText(both, 'claim_queue_id', 'config.', refer.claim_queue);
    return changed(all, 'fallback', (fallback) => changedFallback(fallback, 'config.fallback', refer));
  });
}

function changedRecipient(fields: JsonObject, { pool }: Referring): JsonObject {
  return changed(changedText(fields, 'pool_id', '', pool), 'memberships', (memberships) => {
    if (!Array.isArray(memberships)) return memberships;
    const all: readonly unknown[] = memberships;
    return all.map((each, index) =>
      isObject(each) ? changedText(each, 'pool_id', `memberships[${index}].`, pool) : each,
    );
  });
}

/** The fields of an object with every reference changed. Whatever is not as it should be stays as it is. */
export function mapReferences(kind: BundleKind, fields: JsonObject, refer: Referring): JsonObject {
  if (kind === 'pool') return changedPool(fields, refer);
  if (kind === 'claim_queue') return fields;
  return kind === 'recipient' ? changedRecipient(fields, refer) : changedText(fields, 'pool_id', '', refer.pool);
}

/** Ids of the pools and of the claim queues that an object refers to. */
export function referred(
  kind: BundleKind,
  fields: object,
): { readonly pools: readonly string[]; readonly queues: readonly string[] } {
  const [pools, queues]: [string[], string[]] = [[], []];
  const into = (found: string[]) => (text: string) => {
    found.push(text);
    return text;
  };
  mapReferences(kind, { ...fields }, { pool: into(pools), claim_queue: into(queues), recipient: (text) => text });
  return { pools, queues };
}
