/** Ends whatever a test file started, and fails the file when something stayed. */
import { afterAll, expect } from 'vitest';
import { killChildren, leftAlive } from './child.js';
import { discardEngines } from './engine.js';
import { removeScratchFolders } from './scratch.js';
import { closeTestBus } from './test-bus.js';

/**
 * Call at the top of a test file, after testDatabase (hooks run last first): after its tests every child is killed,
 * embedded servers are ended, and it is checked that no process is left. Files are then removed.
 */
export function cleanUpProcesses(): void {
  afterAll(async () => {
    await killChildren();
    await discardEngines();
    await closeTestBus();
    removeScratchFolders();
    expect(leftAlive(), 'processes that outlived their test').toEqual([]);
  });
}
