/** The compiler. */
import { DuctorError } from '../kernel/index.js';
import type { CelCompiler } from './types.js';

/** A compiler with a cache of its own. */
export function createCelCompiler(_options: { readonly cacheSize?: number } = {}): CelCompiler {
  throw new DuctorError('unimplemented', 'expressions are not there yet');
}
