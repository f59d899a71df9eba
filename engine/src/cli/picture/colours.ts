/** Colours of pictures, dark on light; what they tell stands there as a sign and a word as well. */
import type { Tone } from '../output/paint.js';

/** Colours of a box. */
export interface BoxColours {
  readonly fill: string;
  readonly stroke: string;
}

/** Of text, lines without a tone, and frames. */
export const INK = '#1f2933';
/** Of lines that say the usual. */
export const LINE = '#52606d';

const PLAIN: BoxColours = { fill: '#ffffff', stroke: '#52606d' };
const BOXES: Readonly<Record<Tone, BoxColours>> = {
  good: { fill: '#e3f5e6', stroke: '#1d7a34' },
  bad: { fill: '#fde4e2', stroke: '#b3261e' },
  warning: { fill: '#fff3d6', stroke: '#8a5a00' },
  active: { fill: '#e0effc', stroke: '#1261a6' },
  quiet: { fill: '#f0f2f4', stroke: '#7b8794' },
  strong: PLAIN,
  plain: PLAIN,
};

/** Colours of a box by tone; undefined: of one without a state. */
export function boxColours(tone: Tone | undefined): BoxColours {
  return tone === undefined ? PLAIN : BOXES[tone];
}
