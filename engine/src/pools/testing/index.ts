/** Kits for tests of rooms that go by opening hours. */
export { FIRST_US, MINUTE, minuteOracle, MINUTES, SCHEDULES } from './minute-oracle.js';
