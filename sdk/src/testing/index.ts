/** @ductor/sdk/testing: workflows in this process, on the engine's own machine, with a clock that the test moves. */
export { type FakeSteps, hang, noWorker } from './bodies.js';
export type { FakeAsk, FakeRecipients, FakeRouting } from './fake-routing.js';
export { type TestOptions, type TestRun, type TestView, testRun } from './test-run.js';
