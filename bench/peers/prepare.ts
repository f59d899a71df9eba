/** Installs the peers, compiles the project and the bench's processes. */
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { installedVersion } from './package-version.js';
import { BENCH, ROOT } from './places.js';

const manifest = z.object({ dependencies: z.record(z.string(), z.string()) });

function run(command: string, args: readonly string[], cwd: string): void {
  const { status, error } = spawnSync(command, [...args], { cwd, stdio: ['ignore', 2, 2] });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}`);
}

/** Installs the peers' packages when one is missing or of another version. Runs no script of any package. */
export function installPeers(): void {
  const { dependencies } = manifest.parse(JSON.parse(readFileSync(join(BENCH, 'package.json'), 'utf8')));
  const isComplete = Object.entries(dependencies).every(([name, version]) => installedVersion(name) === version);
  if (!isComplete) run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], BENCH);
}

/** Compiles the project. */
export function buildProject(): void {
  run('npm', ['run', '--silent', 'build'], ROOT);
}

/** Compiles the project, then the bench's processes: what is measured runs as plain JavaScript. */
export function build(): void {
  buildProject();
  rmSync(join(BENCH, 'dist'), { recursive: true, force: true });
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  run(process.execPath, [tsc, '-p', join(BENCH, 'tsconfig.participant.json')], ROOT);
}
