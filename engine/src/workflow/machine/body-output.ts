/** The output of a workflow or of one run of a body. */
import { checkSize } from './failure.js';
import { pathIn } from './path.js';
import { isCutOfLarge, valueOf } from './resolve-source.js';
import { sourceOf } from './source-of.js';
import type { Place, Tick } from './tick.js';
import { asJson } from './typed-json.js';
import { LARGE_BYTES, type Value, type ValueSource } from './value.js';

/** Outputs of completed steps without outgoing edges, by ref; put together from bytes, nothing is parsed. */
function defaultOutput(tick: Tick, { body, scope }: Place): Value {
  const parts: Uint8Array[] = [];
  for (const { ref, outgoing } of body.steps) {
    if (outgoing.length > 0) continue;
    const output = tick.draft.steps.get(pathIn(scope, ref))?.output ?? null;
    if (output === null) continue;
    parts.push(Buffer.from(`${parts.length === 0 ? '' : ','}${JSON.stringify(ref)}:`, 'utf8'), asJson(output));
  }
  return { data: Buffer.concat([Buffer.from('{'), ...parts, Buffer.from('}')]), encoding: 'json' };
}

/**
 * What the steps of a place came to.
 *
 * @param what names the output, should it be too large
 * @throws what its template throws, and value_too_large
 */
export function bodyOutput(tick: Tick, place: Place, what: string): ValueSource {
  const { output } = place.body;
  if (output !== null) {
    const source = sourceOf(tick, place, output, what);
    const reader = pathIn(place.scope, '');
    if (!isCutOfLarge(tick.draft, source, reader, LARGE_BYTES)) return source;
    return { kind: 'value', value: valueOf(tick.draft, source, reader) };
  }
  return { kind: 'value', value: checkSize(defaultOutput(tick, place), what) };
}
