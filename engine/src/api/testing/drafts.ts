/** Drafts that tests of what is refused need; those of `waits` and `strict` are published. */
import { WAIT } from './request-parts.js';

const CYCLE = ['a', 'b'].map((ref) => ({ ...WAIT, ref }));
const edge = (source_ref: string, target_ref: string, condition = '') => ({
  source_ref,
  target_ref,
  type: 'EDGE_TYPE_SUCCESS',
  condition,
});
/** They. */
export const DRAFTS = [
  { family_slug: 'waits', steps: [WAIT] },
  {
    family_slug: 'strict',
    steps: [WAIT],
    input_schema: { type: 'object', properties: { amount: { type: 'number' } } },
  },
  { family_slug: 'bad-cel', steps: CYCLE, edges: [edge('a', 'b', 'steps.a.output +')] },
  { family_slug: 'nul-ref', steps: [{ ...WAIT, ref: 'a\0b' }] },
  { family_slug: 'cycle', steps: CYCLE, edges: [edge('a', 'b'), edge('b', 'a')] },
];
