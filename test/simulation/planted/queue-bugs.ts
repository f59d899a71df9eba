/** Planted bugs of work that waits in queues of pools. */
import type { PlantedBug } from '../cast/engine.js';

/** Whoever ends without a look at what it waits for lets work be given away that nobody wants any more. */
export const WORK_LEFT: PlantedBug = {
  name: 'work_left',
  what: 'the work of a step that gives it up stays in the queue of its pool',
  ports: (ports) => ({
    ...ports,
    runs: {
      ...ports.runs,
      commitGated: (nodeId, locks, decide) =>
        ports.runs.commitGated(nodeId, locks, (usage) => {
          const decision = decide(usage);
          const tenants = decision.reservations.tenants.map((tenant) => ({ ...tenant, unqueued: [] }));
          return { ...decision, reservations: { ...decision.reservations, tenants } };
        }),
    },
  }),
};
