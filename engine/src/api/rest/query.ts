/** The query of a target, strictly: what is not UTF-8 is told, not replaced. */
import { note, type Check } from '../json/check-message.js';

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

/** Names and texts of a query, in order; empty parts are left out. Notes what cannot be decoded. */
export function readQuery(check: Check, query: string): readonly (readonly [string, string])[] {
  const found: [string, string][] = [];
  for (const part of query.split('&')) {
    if (part === '') continue;
    const equals = part.indexOf('=');
    const name = decoded(equals === -1 ? part : part.slice(0, equals));
    const text = decoded(equals === -1 ? '' : part.slice(equals + 1));
    if (name !== undefined && text !== undefined) found.push([name, text]);
    else {
      const problem = 'has a percent sign that encodes no UTF-8';
      note(check, 'query', part, { problem, remedy: 'Encode it with encodeURIComponent or its like.' });
    }
  }
  return found;
}
