/** The methods of routing. */
import { RuleServiceService } from '../../../gen/ductor/v1/rule.js';
import type { GuardOptions } from '../guard.js';
import { ServiceBuilder } from '../service.js';
import * as rules from './rule-service.js';

/** What the handlers of routing need. */
export type RoutingServiceParts = rules.RuleServiceParts;

/** RuleService. */
export function routingMethods(parts: RoutingServiceParts, guard: GuardOptions): readonly ServiceBuilder[] {
  const R = RuleServiceService;
  return [
    new ServiceBuilder(guard)
      .unary(R.createRule, rules.createRule(parts))
      .unary(R.getRule, rules.getRule(parts))
      .unary(R.listRules, rules.listRules(parts))
      .unary(R.updateRule, rules.updateRule(parts))
      .unary(R.deleteRule, rules.deleteRule(parts))
      .unary(R.reorderRules, rules.reorderRules(parts)),
  ];
}
