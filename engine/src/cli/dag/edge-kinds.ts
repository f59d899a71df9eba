/** How edges look and what they are called, by what they wait for. */
import type { Tone } from '../output/paint.js';
import type { EdgeKind } from './graph.js';

/** Arrows by what the edge waits for. */
export const ARROWS: Readonly<
  Record<EdgeKind, { readonly unicode: string; readonly ascii: string; readonly tone: Tone }>
> = {
  success: { unicode: '▼', ascii: 'v', tone: 'quiet' },
  failure: { unicode: '✗', ascii: 'x', tone: 'bad' },
  always: { unicode: '◆', ascii: 'o', tone: 'quiet' },
  timeout: { unicode: '◷', ascii: 't', tone: 'warning' },
  compensate: { unicode: '↶', ascii: 'u', tone: 'warning' },
};

/** What arrows mean, as a legend says it; success needs none. */
export const MEANINGS: readonly (readonly [EdgeKind, string])[] = [
  ['failure', 'on failure'],
  ['always', 'on success or failure'],
  ['timeout', 'on a timeout'],
  ['compensate', 'undoes it when the run does not complete'],
];
