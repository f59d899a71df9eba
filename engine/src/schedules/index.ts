/** Schedules: when they happen, and the runs they start. */
export { DEFAULT_CATCH_UP_WINDOW_MS, SCHEDULE_LIMITS } from './check-content.js';
export type { RunRef, ScheduleOwner, ScheduleRuns, SlotStart } from './driver/ports.js';
export { createScheduleDriver, type ScheduleDriver } from './driver/schedule-driver.js';
export { maintainSchedules } from './maintain-schedules.js';
export type {
  CatchUpPolicy,
  NewSchedule,
  OverlapPolicy,
  ScheduleContent,
  ScheduleRecord,
  SlotOutcome,
  SlotRecord,
  SlotSource,
} from './schedule.js';
export { createSchedules, type Schedules } from './schedules.js';
export { cronProblem, cronSlots, zoneProblem } from './slots/cron.js';
export { WEEKDAYS, type CalendarSpec, type SlotSpec, type Weekday } from './slots/spec.js';
