/** Names of pools, recipients and claim queues for ids, and ids for names. */
import type { PoolFields, RecipientFields } from '../../pools/index.js';
import type { Referring } from './references.js';

/** An object that others refer to, and that there is or will be. */
export interface Named {
  readonly id: string;
  readonly name: string;
  /** Empty: none. */
  readonly externalId: string;
}

/** A pool or claim queue by its name. */
export function namedAlone(id: string, { name }: Pick<PoolFields, 'name'>): Named {
  return { id, name, externalId: '' };
}

/** A recipient by its names. */
export function namedRecipient(id: string, fields: Pick<RecipientFields, 'name' | 'external_id'>): Named {
  return { id, name: fields.name, externalId: fields.external_id };
}

/** The objects of one kind by what they are called: external_id before name, name before id. */
class Names {
  readonly #byExternalId = new Map<string, string>();
  /** null: several have the name. */
  readonly #byName = new Map<string, string | null>();
  readonly #byId = new Map<string, Named>();

  constructor(all: Iterable<Named>) {
    for (const named of all) {
      const { id, name, externalId } = named;
      this.#byId.set(id, named);
      if (externalId !== '') this.#byExternalId.set(externalId, id);
      this.#byName.set(name, this.#byName.has(name) ? null : id);
    }
  }

  /** The id; undefined: there is no such object, or there are several. */
  idOf(text: string): string | undefined {
    const known = this.#byExternalId.get(text) ?? this.#byName.get(text);
    return known ?? (this.#byId.has(text) ? text : undefined);
  }

  /** What idOf turns into this id again: the external_id or name where they are its own alone, else the id. */
  nameOf(id: string): string {
    const named = this.#byId.get(id);
    if (named === undefined) return id;
    const name = named.externalId === '' ? named.name : named.externalId;
    return this.idOf(name) === id ? name : id;
  }
}

/** Names of all that others refer to. */
export interface AllNames {
  readonly pools: Names;
  readonly recipients: Names;
  readonly claim_queues: Names;
}

/** Gathers them. */
export function namesOf(pools: Iterable<Named>, recipients: Iterable<Named>, queues: Iterable<Named>): AllNames {
  return { pools: new Names(pools), recipients: new Names(recipients), claim_queues: new Names(queues) };
}

/** Puts names in the place of ids. */
export function toNames({ pools, recipients, claim_queues: queues }: AllNames): Referring {
  return {
    pool: (id) => pools.nameOf(id),
    recipient: (id) => recipients.nameOf(id),
    claim_queue: (id) => queues.nameOf(id),
  };
}
