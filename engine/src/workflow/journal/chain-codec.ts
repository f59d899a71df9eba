/** What the journal says of chains: which run continues which, and with what. */
import type { Chain, RunContinuing } from '../../gen/ductor/journal/v1/journal.js';
import type { ChainLink, Continuing } from '../machine/index.js';
import { fromStoredSource, orNull, toStoredSource, unreadable } from './stored.js';

/** A place in a chain as it is stored; undefined for none. */
export function toStoredChain(chain: ChainLink | null | undefined): Chain | undefined {
  return chain === null || chain === undefined ? undefined : { ...chain, mayHold: chain.mayHold === true };
}

/** A stored place in a chain. */
export function fromStoredChain({ chainId, previousId, no, mayHold }: Chain): ChainLink {
  return { chainId, previousId, no, ...(mayHold ? { mayHold } : {}) };
}

/** What a successor begins with as it is stored. */
export function toStoredContinuing({ input, version, timeoutUs }: Continuing): RunContinuing {
  return { input: toStoredSource(input), version, timeoutUs: BigInt(timeoutUs ?? 0) };
}

/** What a successor begins with. Throws internal when it has no input. */
export function fromStoredContinuing({ input, version, timeoutUs }: RunContinuing): Continuing {
  const source = fromStoredSource(input);
  if (source === null) throw unreadable('a run that continues without input');
  return { input: source, version, timeoutUs: orNull(timeoutUs) };
}
