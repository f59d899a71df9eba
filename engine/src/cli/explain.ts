/** What a person should read about a failure: what, where, and what to do. */
import { DuctorError } from '../kernel/index.js';
import { oneLine } from './output/safe-text.js';

/** The text for whatever was caught. Faults of this program come with their stack. */
export function explain(caught: unknown): string {
  const error = DuctorError.from(caught);
  const details = error.details.map(({ path, value, problem, remedy }) => {
    const found = value === '' ? '' : `(${oneLine(value)}) `;
    return `  ${oneLine(`${path} ${found}${problem}`.trim())}. ${oneLine(remedy)}\n`;
  });
  // Said once: a remedy that a detail tells already is not told again.
  const isSaid = error.details.some(({ remedy }) => remedy === error.remedy);
  const remedy = isSaid ? '' : `  ${oneLine(error.remedy)}\n`;
  const isForeign = error.code === 'internal' && !(caught instanceof DuctorError) && caught instanceof Error;
  const stack = isForeign ? `${caught.stack ?? ''}\n` : '';
  return `ductor: ${oneLine(error.message)} [${error.code}]\n${details.join('')}${remedy}${stack}`;
}
