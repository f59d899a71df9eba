/** Bundles: the topology of a tenant as one document, in which objects name each other by name. */
import type { ClaimQueueFields } from '../../claims/index.js';
import type { PoolFields, RecipientFields, StoredObject, Topology } from '../../pools/index.js';
import type { RuleFields } from '../rules/rule.js';

/** An object as JSON. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** A bundle as it is sent and exported. */
export interface Bundle {
  readonly pools: readonly JsonObject[];
  readonly recipients: readonly JsonObject[];
  readonly rules: readonly JsonObject[];
  readonly claim_queues: readonly JsonObject[];
}

/** Kind of an object. */
export type BundleKind = 'pool' | 'recipient' | 'rule' | 'claim_queue';

/** Kinds of which everything may be deleted that a bundle does not name. */
export const PRUNED_KINDS = ['pools', 'recipients', 'rules', 'claim_queues'] as const;

/** One of them. */
export type PrunedKind = (typeof PRUNED_KINDS)[number];

/** Everything of a tenant that a bundle can speak of. */
export interface Whole extends Topology {
  readonly rules: readonly StoredObject<RuleFields>[];
  readonly claim_queues: readonly StoredObject<ClaimQueueFields>[];
}

/** Fields of the objects of each kind. */
export interface FieldsOf {
  readonly pool: PoolFields;
  readonly recipient: RecipientFields;
  readonly rule: RuleFields;
  readonly claim_queue: ClaimQueueFields;
}

/** One field that changes; undefined: not there. */
export interface FieldChange {
  /** `config.default_timeout` */
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** One object that changes, as people read it. */
export interface BundleChange {
  readonly kind: BundleKind;
  readonly action: 'create' | 'update' | 'delete';
  readonly name: string;
  /** Of a recipient that has one; else empty. */
  readonly externalId: string;
  /** Empty while it is not made. */
  readonly id: string;
  /** What it is before the change; 0 when it is made. */
  readonly version: number;
  /** Other objects by their names. */
  readonly fields: readonly FieldChange[];
}
