import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Absolute path of a file under the project's root. */
const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  resolve: { alias: { '@ductor/sdk': at('./sdk/src/index.ts'), '@ductor/engine': at('./engine/src/index.ts') } },
  test: {
    include: ['engine/src/**/*.test.ts', 'sdk/src/**/*.test.ts', 'bridge-example/src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**', 'test/fixtures/**'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    retry: 0,
  },
});
