/** Colours. Widths of painted text are those of the text: measure before painting. */
import type { Terminal } from './terminal.js';

/** What a text says about what it names. */
export type Tone = 'good' | 'bad' | 'warning' | 'active' | 'quiet' | 'strong' | 'plain';

const CODES: Readonly<Record<Tone, string>> = {
  good: '32',
  bad: '31',
  warning: '33',
  active: '36',
  quiet: '2',
  strong: '1',
  plain: '',
};

/** Paints a text. */
export type Paint = (tone: Tone, text: string) => string;

/** Paints for this terminal: leaves texts as they are where colours are not welcome. */
export function painter({ hasColour }: Pick<Terminal, 'hasColour'>): Paint {
  if (!hasColour) return (_tone, text) => text;
  return (tone, text) => (tone === 'plain' || text === '' ? text : `\u001b[${CODES[tone]}m${text}\u001b[0m`);
}
