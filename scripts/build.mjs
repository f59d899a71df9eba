// Compiles the workspaces in dependency order into their dist folders. Called by `npm run build` and, through
// `prepare`, by `npm ci`.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const tsc = fileURLToPath(new URL('../node_modules/typescript/bin/tsc', import.meta.url));

for (const workspace of ['engine', 'sdk', 'bridge-example']) {
  rmSync(`${root}${workspace}/dist`, { recursive: true, force: true });
  const { status } = spawnSync(process.execPath, [tsc, '-p', `${workspace}/tsconfig.build.json`], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(status ?? 1);
}
