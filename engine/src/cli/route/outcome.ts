/** Outcomes of decisions as the terminal shows them. */
import type { RoutingDecision } from '../../gen/ductor/v1/routing.js';
import type { Tone } from '../output/paint.js';

const TONES: ReadonlyMap<string, Tone> = new Map([
  ['success', 'good'],
  ['waiting', 'active'],
  ['refused', 'warning'],
  ['infrastructure', 'bad'],
]);

/** By the class of the outcome; plain for a class that this command does not know. */
export function outcomeTone({ outcomeClass }: Pick<RoutingDecision, 'outcomeClass'>): Tone {
  return TONES.get(outcomeClass) ?? 'plain';
}
