/** Bundles: pools, recipients, rules and claim queues as one document. */
import type { CallOptions, ChannelCredentials, ClientOptions, Metadata } from '@grpc/grpc-js';
import { checkNames } from '../connection/field-checks.js';
import {
  type ApplyRoutingBundleResponse,
  type BundlePlan,
  BundleServiceClient,
  type DeepPartial,
  type DiffRoutingBundleResponse,
  type ExportRoutingBundleResponse,
  RoutingBundle,
} from '../gen/ductor/v1/bundle.js';
import { present, unary } from './unary.js';

/**
 * Pools, recipients, rules and claim queues that name each other: `poolId: 'billing'`. What an object does not say
 * has its default, but for the live state of a recipient.
 */
export type RoutingTopology = DeepPartial<RoutingBundle>;

/** What a bundle changes. */
export type RoutingPlan = BundlePlan;

/** Kinds of which everything is deleted that a bundle does not name. */
export type PrunedKind = 'pools' | 'recipients' | 'rules' | 'claim_queues';

/** Options of a diff. */
export interface DiffBundleOptions {
  /** Default: nothing is deleted. */
  readonly prune?: readonly PrunedKind[];
}

/** Options of an application. */
export interface ApplyBundleOptions extends DiffBundleOptions {
  /** `planDigest` of a diff: when something else would be done by now, nothing is. Default: no guard. */
  readonly expectedPlan?: string;
  /** For the audit trail. */
  readonly reason?: string;
}

/** Calls about bundles. All throw DuctorError, invalid_argument among others. */
export interface BundleCalls {
  /** What apply would change. */
  diff(bundle: RoutingTopology, options?: DiffBundleOptions): Promise<RoutingPlan>;
  /** Makes everything what the bundle says, or nothing; says what was changed. Throws version_conflict besides. */
  apply(bundle: RoutingTopology, options?: ApplyBundleOptions): Promise<RoutingPlan>;
  /** Everything there is. */
  export(): Promise<RoutingBundle>;
}

/** A channel's calls about bundles. */
export interface BundleChannel {
  readonly calls: BundleCalls;
  close(): void;
}

const DIFF_OPTIONS: Readonly<Record<keyof DiffBundleOptions, true>> = { prune: true };
const APPLY_OPTIONS: Readonly<Record<keyof ApplyBundleOptions, true>> = {
  ...DIFF_OPTIONS,
  ...{ expectedPlan: true, reason: true },
};

/** Opens them. */
export function bundleCalls(
  target: string,
  credentials: ChannelCredentials,
  options: ClientOptions,
  setup: () => { readonly metadata: Metadata; readonly options: CallOptions },
): BundleChannel {
  const client = new BundleServiceClient(target, credentials, options);
  const calls: BundleCalls = {
    async diff(bundle, given = {}) {
      checkNames('bundle', given, DIFF_OPTIONS);
      const request = { bundle: RoutingBundle.fromPartial(bundle), prune: [...(given.prune ?? [])] };
      const { metadata, options: callOptions } = setup();
      const { data } = await unary<DiffRoutingBundleResponse>((done) =>
        client.diffRoutingBundle(request, metadata, callOptions, done),
      );
      return present(data);
    },
    async apply(bundle, given = {}) {
      checkNames('bundle', given, APPLY_OPTIONS);
      const { prune = [], expectedPlan = '', reason = '' } = given;
      const request = { bundle: RoutingBundle.fromPartial(bundle), prune: [...prune], expectedPlan, reason };
      const { metadata, options: callOptions } = setup();
      const { data } = await unary<ApplyRoutingBundleResponse>((done) =>
        client.applyRoutingBundle(request, metadata, callOptions, done),
      );
      return present(data);
    },
    async export() {
      const { metadata, options: callOptions } = setup();
      const { data } = await unary<ExportRoutingBundleResponse>((done) =>
        client.exportRoutingBundle({}, metadata, callOptions, done),
      );
      return present(data);
    },
  };
  return { calls, close: () => client.close() };
}
