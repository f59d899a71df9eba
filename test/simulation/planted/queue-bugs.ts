/** Planted bugs of work that waits in queues of pools. */
import type { PlantedBug } from '../cast/engine.js';
import { withTenants } from './gated.js';

/** Whoever ends without a look at what it waits for lets work be given away that nobody wants any more. */
export const WORK_LEFT: PlantedBug = {
  name: 'work_left',
  what: 'the work of a step that gives it up stays in the queue of its pool',
  ports: (ports) => withTenants(ports, (tenant) => ({ ...tenant, unqueued: [] })),
};
