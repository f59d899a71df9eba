/** Schedules: when they happen, and the runs they start. */
export { cronProblem, cronSlots, zoneProblem } from './slots/cron.js';
