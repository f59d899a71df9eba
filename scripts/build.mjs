// Compiles the workspaces in dependency order into their dist folders. Called by `npm run build` and, through
// `prepare`, by `npm ci`.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundleMachine } from './lib/bundle-machine.mjs';
import { writeEsmEntries } from './lib/esm-entries.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const tsc = fileURLToPath(new URL('../node_modules/typescript/bin/tsc', import.meta.url));

/** Compiles by a tsconfig; ends this process when that fails. */
function compile(tsconfig) {
  const { status } = spawnSync(process.execPath, [tsc, '-p', tsconfig], { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

for (const workspace of ['engine', 'sdk', 'bridge-example'])
  rmSync(`${root}${workspace}/dist`, { recursive: true, force: true });

compile('engine/tsconfig.build.json');
// Types for whoever imports, then code and types for whoever requires; modules only pass that code on.
compile('sdk/tsconfig.build.json');
compile('sdk/tsconfig.cjs.json');
await bundleMachine(`${root}engine/src/workflow/in-process/in-process.ts`, `${root}sdk/dist/cjs/machine.js`);
writeEsmEntries(`${root}sdk/dist`, ['index', 'testing/index']);
compile('bridge-example/tsconfig.build.json');
