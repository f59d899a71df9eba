/** Planted bugs of work that waits to be claimed. */
import type { PlantedBug } from '../cast/engine.js';
import { withTenants } from './gated.js';

/** How long a batch waits for its locks where it is decided before it has them, microseconds. */
const LOCK_WAIT_US = 100_000;

/** Whoever reads first and locks afterwards lets two have the same work. */
export const CLAIMED_TWICE: PlantedBug = {
  name: 'claimed_twice',
  what: 'claims are decided by what was read before the locks were there',
  ports: (ports, { server }) => ({
    ...ports,
    claims: {
      ...ports.claims,
      act: async (calls) => {
        const early = server.readClaims();
        await new Promise<void>((resolve) =>
          server.sim.scheduler.after(LOCK_WAIT_US, null, 'the locks are free', () => resolve()),
        );
        return ports.claims.act(calls, early);
      },
    },
  }),
};

/** Whoever ends without a look at what it waits for lets somebody claim work that nobody wants any more. */
export const CLAIMS_LEFT: PlantedBug = {
  name: 'claims_left',
  what: 'the work of a step that gives it up stays in its claim queue',
  ports: (ports) => withTenants(ports, (tenant) => ({ ...tenant, withdrawn: [] })),
};
