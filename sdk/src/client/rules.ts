/** Rules from code: which pool work enters. */
import type { ChannelCredentials, ClientOptions } from '@grpc/grpc-js';
import { checkNames } from '../connection/field-checks.js';
import {
  CreateRuleRequest,
  type DeepPartial,
  type ListRulesResponse,
  type ReorderRulesResponse,
  type Rule,
  RuleInput,
  RuleServiceClient,
} from '../gen/ductor/v1/rule.js';
import type { VersionGuard } from './pools.js';
import { dateOf, timestampOf } from './run-view.js';
import type { PageOptions } from './schedule-options.js';
import { askBy, page, type Setup } from './topology-call.js';
import { type Change, masked } from './update-mask.js';
import { present } from './unary.js';

/** What can be said of a rule. */
export interface RuleFields {
  readonly name?: string;
  /** Lowest first. Default: behind all others. */
  readonly priority?: number;
  /** CEL over the work: `routable.type == "lead"`. */
  readonly expr?: string;
  /** Where work goes that matches. */
  readonly poolId?: string;
  /** `route` (default), `drop` or `hold`. */
  readonly action?: string;
  /** Whether no rule behind it is asked once it matches. Default true. */
  readonly stop?: boolean;
  /** Default true. */
  readonly enabled?: boolean;
  readonly effectiveFrom?: Date;
  readonly effectiveTo?: Date;
}

/** A rule as it is. */
export interface RuleView extends Omit<Rule, 'createdAt' | 'updatedAt' | 'effectiveFrom' | 'effectiveTo'> {
  readonly effectiveFrom: Date | undefined;
  readonly effectiveTo: Date | undefined;
  readonly createdAt: Date | undefined;
  readonly updatedAt: Date | undefined;
}

/** A page of rules, in the order in which they are asked. */
export interface RulePage {
  readonly rules: readonly RuleView[];
  /** Cursor of the next page; undefined on the last. */
  readonly nextCursor: string | undefined;
}

/**
 * Calls about rules. All throw DuctorError: invalid_argument, not_found and more; with `expectedVersion` it is
 * version_conflict when a rule has changed since.
 */
export interface RuleCalls {
  create(fields: RuleFields & { readonly name: string; readonly expr: string }): Promise<RuleView>;
  get(ruleId: string): Promise<RuleView>;
  list(options?: PageOptions): Promise<RulePage>;
  /** Changes what is given and nothing else; null clears. */
  update(ruleId: string, change: Change<RuleFields>, guard?: VersionGuard): Promise<RuleView>;
  delete(ruleId: string, guard?: VersionGuard): Promise<RuleView>;
  /** Puts all rules in a new order; each is named once. */
  reorder(ruleIds: readonly string[]): Promise<readonly RuleView[]>;
}

/** Channels of the calls. */
export interface RuleChannel {
  readonly calls: RuleCalls;
  close(): void;
}

const PAGE: Readonly<Record<keyof PageOptions, true>> = { pageSize: true, cursor: true };
const GUARD: Readonly<Record<keyof VersionGuard, true>> = { expectedVersion: true };

function ruleView({ effectiveFrom, effectiveTo, createdAt, updatedAt, ...rest }: Rule): RuleView {
  return {
    ...rest,
    ...{ effectiveFrom: dateOf(effectiveFrom), effectiveTo: dateOf(effectiveTo) },
    ...{ createdAt: dateOf(createdAt), updatedAt: dateOf(updatedAt) },
  };
}

/** The fields as they are sent. */
function messageOf({ effectiveFrom, effectiveTo, ...rest }: RuleFields): DeepPartial<RuleInput> {
  return {
    ...rest,
    ...(effectiveFrom !== undefined && { effectiveFrom: timestampOf(effectiveFrom) }),
    ...(effectiveTo !== undefined && { effectiveTo: timestampOf(effectiveTo) }),
  };
}

/** Opens them. */
export function ruleCalls(
  target: string,
  credentials: ChannelCredentials,
  options: ClientOptions,
  setup: Setup,
): RuleChannel {
  const client = new RuleServiceClient(target, credentials, options);
  const ask = askBy(setup);
  type Answer = { readonly data: Rule | undefined };
  const one = async (call: Parameters<typeof ask<Answer>>[0]): Promise<RuleView> =>
    ruleView(present((await ask<Answer>(call)).data));
  const calls: RuleCalls = {
    create(fields) {
      const request = CreateRuleRequest.fromPartial(messageOf(fields));
      return one((...rest) => client.createRule(request, ...rest));
    },
    get: (ruleId) => one((...rest) => client.getRule({ ruleId }, ...rest)),
    async list(given = {}) {
      checkNames('list of rules', given, PAGE);
      const request = { pagination: page(given) };
      const { data, pagination } = await ask<ListRulesResponse>((...rest) => client.listRules(request, ...rest));
      return { rules: data.map(ruleView), nextCursor: pagination?.nextCursor || undefined };
    },
    update(ruleId, change, guard = {}) {
      checkNames('update', guard, GUARD);
      const { sent, updateMask } = masked<RuleFields>(change);
      const request = {
        ruleId,
        rule: RuleInput.fromPartial(messageOf(sent)),
        updateMask,
        expectedVersion: 0,
        ...guard,
      };
      return one((...rest) => client.updateRule(request, ...rest));
    },
    delete(ruleId, guard = {}) {
      checkNames('deletion', guard, GUARD);
      return one((...rest) => client.deleteRule({ ruleId, expectedVersion: 0, ...guard }, ...rest));
    },
    async reorder(ruleIds) {
      const request = { ruleIds: [...ruleIds] };
      const { data } = await ask<ReorderRulesResponse>((...rest) => client.reorderRules(request, ...rest));
      return data.map(ruleView);
    },
  };
  return { calls, close: () => client.close() };
}
