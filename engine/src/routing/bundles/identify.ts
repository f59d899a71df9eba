/** Which stored object each object of a bundle is. */
import type { Problem } from '../../kernel/index.js';
import type { StoredObject } from '../../pools/index.js';
import type { Bundle, FieldsOf, JsonObject, Whole } from './bundle.js';

/** An object of a bundle with what it is. */
export interface Identified<Fields> {
  /** Where it stands: `bundle.pools[3]`. */
  readonly at: string;
  readonly sent: JsonObject;
  /** Of the stored object, or a new one. */
  readonly id: string;
  /** undefined: it is made. */
  readonly was: StoredObject<Fields> | undefined;
}

/** What the objects are, and which of them are named twice. */
export interface Identities {
  readonly pools: readonly Identified<FieldsOf['pool']>[];
  readonly recipients: readonly Identified<FieldsOf['recipient']>[];
  readonly rules: readonly Identified<FieldsOf['rule']>[];
  readonly claim_queues: readonly Identified<FieldsOf['claim_queue']>[];
  readonly problems: readonly Problem[];
}

/** A text of an object; empty when there is none. */
export function textOf(object: JsonObject, key: string): string {
  const value = Object.hasOwn(object, key) ? object[key] : undefined;
  return typeof value === 'string' ? value : '';
}

function twice(path: string, value: string, what: string): Problem {
  return { path, value, problem: `stands in two ${what}`, remedy: 'Write each object once.' };
}

function byName<Fields extends { readonly name: string }>(
  kind: 'pools' | 'rules' | 'claim_queues',
  sent: readonly JsonObject[],
  stored: readonly StoredObject<Fields>[],
  newId: () => string,
): { readonly found: readonly Identified<Fields>[]; readonly problems: readonly Problem[] } {
  const known = new Map(stored.map((each) => [each.fields.name, each]));
  const seen = new Set<string>();
  const problems: Problem[] = [];
  const found = sent.map((object, index): Identified<Fields> => {
    const [name, at] = [textOf(object, 'name'), `bundle.${kind}[${index}]`];
    if (seen.has(name)) problems.push(twice(`${at}.name`, name, kind.replace('_', ' ')));
    seen.add(name);
    const was = known.get(name);
    return { at, sent: object, id: was?.id ?? newId(), was };
  });
  return { found, problems };
}

type StoredRecipient = StoredObject<FieldsOf['recipient']>;

/** The stored recipients without external_id by name; those of one name together. */
function anonymousOf(stored: readonly StoredRecipient[]): Map<string, StoredRecipient[]> {
  const found = new Map<string, StoredRecipient[]>();
  for (const each of stored) {
    if (each.fields.external_id !== '') continue;
    const same = found.get(each.fields.name);
    if (same === undefined) found.set(each.fields.name, [each]);
    else same.push(each);
  }
  return found;
}

/**
 * Which recipients they are: by external_id; without one the one of the name that has none either. One that is given an
 * external_id which nobody has is the one of its name without one, if the bundle has no other use for that.
 */
function identifyRecipients(
  sent: readonly JsonObject[],
  stored: readonly StoredRecipient[],
  newId: () => string,
): { readonly found: readonly Identified<FieldsOf['recipient']>[]; readonly problems: readonly Problem[] } {
  const known = new Map(
    stored.flatMap((each) => (each.fields.external_id === '' ? [] : [[each.fields.external_id, each]])),
  );
  const anonymous = anonymousOf(stored);
  const claimed = new Set(sent.flatMap((each) => (textOf(each, 'external_id') === '' ? [textOf(each, 'name')] : [])));
  const seen = new Set<string>();
  const problems: Problem[] = [];
  const found = sent.map((object, index): Identified<FieldsOf['recipient']> => {
    const [name, externalId] = [textOf(object, 'name'), textOf(object, 'external_id')];
    const at = `bundle.recipients[${index}]`;
    const [field, value] = externalId === '' ? ['name', name] : ['external_id', externalId];
    if (seen.has(`${field}/${value}`)) problems.push(twice(`${at}.${field}`, value, 'recipients'));
    seen.add(`${field}/${value}`);
    const byExternalId = externalId === '' ? undefined : known.get(externalId);
    const isFree = externalId === '' || !claimed.has(name);
    const same = byExternalId !== undefined || !isFree ? [] : (anonymous.get(name) ?? []);
    if (same.length > 1) problems.push(ambiguous(`${at}.name`, name, same.length));
    if (externalId !== '' && byExternalId === undefined) claimed.add(name);
    const was = byExternalId ?? same[0];
    return { at, sent: object, id: was?.id ?? newId(), was };
  });
  return { found, problems };
}

function ambiguous(path: string, value: string, count: number): Problem {
  const problem = `is the name of ${count} recipients without an external_id`;
  return { path, value, problem, remedy: 'Give them external_ids: a bundle knows recipients by these.' };
}

/** Says of each object which stored one it is. */
export function identify(sent: Bundle, stored: Whole, newId: () => string): Identities {
  const pools = byName('pools', sent.pools, stored.pools, newId);
  const recipients = identifyRecipients(sent.recipients, stored.recipients, newId);
  const rules = byName('rules', sent.rules, stored.rules, newId);
  const queues = byName('claim_queues', sent.claim_queues, stored.claim_queues, newId);
  return {
    ...{ pools: pools.found, recipients: recipients.found, rules: rules.found, claim_queues: queues.found },
    problems: [...pools.problems, ...recipients.problems, ...rules.problems, ...queues.problems],
  };
}

/** Recipients that a bundle could not tell apart: without external_id, several of one name. */
export function unclearRecipients(stored: readonly StoredRecipient[]): readonly string[] {
  return [...anonymousOf(stored)].filter(([, same]) => same.length > 1).map(([name]) => name);
}
