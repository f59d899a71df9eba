/** What pools and rules read, as paths; worked out once for each that was compiled. */
import type { PoolReads } from '../pipeline/view.js';
import type { CompiledRule } from '../rules/rule.js';
import { pathsBelow, type Path } from './paths.js';

const ofRecipients = new WeakMap<PoolReads, readonly Path[]>();
const ofRoutables = new WeakMap<PoolReads | CompiledRule, readonly Path[]>();

function remembered<Key extends object>(
  known: WeakMap<Key, readonly Path[]>,
  key: Key,
  work: () => readonly Path[],
): readonly Path[] {
  const found = known.get(key);
  if (found !== undefined) return found;
  const made = work();
  known.set(key, made);
  return made;
}

/** Paths into recipients that a pool reads. */
export function recipientPaths(reads: PoolReads): readonly Path[] {
  const more = reads.attributes.map((name) => ['attributes', name]);
  return remembered(ofRecipients, reads, () => pathsBelow('recipient', reads.expressions, more));
}

/** Paths into the attributes of a routable that a pool or a rule reads; the empty one stands for all of them. */
export function attributePaths(reader: PoolReads | CompiledRule): readonly Path[] {
  const expressions = 'expression' in reader ? [reader.expression] : reader.expressions;
  return remembered(ofRoutables, reader, () =>
    pathsBelow('routable', expressions)
      .filter(([first]) => first === undefined || first === 'attributes')
      .map((path) => path.slice(1)),
  );
}
