/** Names are looked up as the machine does it: hosts file and DNS. */
import { lookup } from 'node:dns/promises';
import { DuctorError } from '../kernel/index.js';
import type { Resolver } from './guard.js';

/** The machine's resolver. Throws host_unreachable when a name has no address. */
export function systemResolver(): Resolver {
  return async (hostname) => {
    try {
      const found = await lookup(hostname, { all: true, verbatim: true });
      return found.map(({ address }) => address);
    } catch (error) {
      throw new DuctorError('host_unreachable', `${hostname} could not be looked up`, { cause: error });
    }
  };
}
