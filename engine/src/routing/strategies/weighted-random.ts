/** Anybody, as likely as the weight says. No state. */
import { drawByWeight } from './draws.js';
import { singly, type Strategy } from './strategy.js';

/** weighted_random */
export const weightedRandom: Strategy = (candidates, context) => {
  const order = drawByWeight(candidates, ({ weightMilli }) => weightMilli, context);
  const total = candidates.reduce((sum, { weightMilli }) => sum + weightMilli, 0);
  const [first] = order;
  return { groups: singly(order), ...(first === undefined ? {} : { propensity: [first.weightMilli, total] }) };
};
