/** Anybody, each equally likely. No state. */
import { shuffle } from '../core/stream.js';
import { singly, type Strategy } from './strategy.js';

/** random */
export const random: Strategy = (candidates, { stream }) => ({
  groups: singly(shuffle([...candidates], stream)),
  ...(candidates.length === 0 ? {} : { propensity: [1, candidates.length] }),
});
