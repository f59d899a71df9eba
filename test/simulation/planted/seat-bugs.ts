/** Planted bugs of seats. */
import type { PlantedBug } from '../cast/engine.js';
import { withDecision, withTenants } from './gated.js';

/** How long a report waits for its locks where it is decided before it has them, microseconds. */
const LOCK_WAIT_US = 100_000;

/** Of two limits that are reported at once the last would count, be it the shorter one. */
export const LIMITED_BEFORE_LOCKING: PlantedBug = {
  name: 'limited_before_locking',
  what: 'rate limits are reckoned by what was read before the locks were there',
  ports: (ports, { server }) => ({
    ...ports,
    reports: {
      ...ports.reports,
      report: async (report) => {
        const early = server.db.reservations.seats.rowOf(report.recipientId);
        await new Promise<void>((resolve) =>
          server.sim.scheduler.after(LOCK_WAIT_US, null, 'the locks are free', () => resolve()),
        );
        return ports.reports.report(report, early);
      },
    },
  }),
};

/** Who owns a seat and has ended would keep it. */
export const SEATS_LEFT: PlantedBug = {
  name: 'seats_left',
  what: 'the last run of a family ends, and its seats do not',
  ports: (ports) =>
    withDecision(ports, (decided) => ({ ...decided, reservations: { ...decided.reservations, ended: [] } })),
};

/** A seat whose rate limit is over would be tried by everybody at once. */
export const PROBES_FORGOTTEN: PlantedBug = {
  name: 'probes_forgotten',
  what: 'that somebody tries a seat after its rate limit is written nowhere',
  ports: (ports) => withTenants(ports, (tenant) => ({ ...tenant, probes: [] })),
};
