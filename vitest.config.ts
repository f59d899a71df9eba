import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Absolute path of a file under the project's root. */
const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Tests that start engines, workers and databases as processes and kill them; they come after the others. */
const PROCESS_TESTS = ['test/e2e/**/*.test.ts', 'test/fault/**/*.test.ts'];

/** Those of them that say how soon something is done, or keep both cores busy: nothing runs beside them. */
const ALONE = [
  'test/e2e/dev.test.ts',
  ...['kill-suite', 'overload', 'quarantine', 'slates-hot'].map((name) => `test/fault/${name}.test.ts`),
];

/** Starting engines and databases takes its time. */
const PROCESS_LIMITS = { testTimeout: 300_000, hookTimeout: 120_000 };

export default defineConfig({
  resolve: {
    alias: {
      // What scripts/build.mjs bundles for the packed SDK.
      '#machine': at('./engine/src/workflow/in-process/in-process.ts'),
      '@ductor/sdk/testing': at('./sdk/src/testing/index.ts'),
      '@ductor/sdk': at('./sdk/src/index.ts'),
      '@ductor/engine': at('./engine/src/index.ts'),
    },
  },
  test: {
    retry: 0,
    globalSetup: ['engine/src/store/testing/global-setup.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['{engine,sdk,bridge-example}/src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: ['**/node_modules/**', '**/dist/**', 'test/fixtures/**', ...PROCESS_TESTS],
          testTimeout: 30_000,
          hookTimeout: 60_000,
          maxWorkers: 2,
          // Loading the engine anew for each file took longer than its tests (docs/decisions/0026-test-lane.md).
          isolate: false,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'process',
          include: PROCESS_TESTS,
          exclude: ['**/node_modules/**', 'test/fixtures/**', ...ALONE],
          ...PROCESS_LIMITS,
          // They mostly wait: for timers, and for what was killed.
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'alone',
          include: ALONE,
          ...PROCESS_LIMITS,
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
