// Runs the project's own command-line tools (node_modules/.bin) from its root.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Absolute path of the project's root, without a slash at its end. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url)).replace(/[\\/]$/, '');

const BIN = join(ROOT, 'node_modules', '.bin');

/** The environment of a child: ours, with node_modules/.bin first in PATH so that buf finds its plugins. */
export function toolEnv(extra = {}) {
  return { ...process.env, PATH: `${BIN}${delimiter}${process.env.PATH ?? ''}`, ...extra };
}

/**
 * Runs a tool and waits for it.
 *
 * @param {string} name a program in node_modules/.bin, or in PATH
 * @param {string[]} args
 * @param {{cwd?: string, quiet?: boolean, input?: string}} options quiet: collect the output instead of showing it
 * @returns {{status: number, stdout: Buffer, stderr: Buffer}} status is 127 when the program is not there
 */
export function runTool(name, args, { cwd = ROOT, quiet = false } = {}) {
  const local = join(BIN, process.platform === 'win32' ? `${name}.cmd` : name);
  const { status, stdout, stderr, error } = spawnSync(existsSync(local) ? local : name, args, {
    cwd,
    env: toolEnv(),
    stdio: ['ignore', quiet ? 'pipe' : 'inherit', quiet ? 'pipe' : 'inherit'],
    maxBuffer: 256 * 1024 * 1024,
    shell: process.platform === 'win32',
  });
  const empty = Buffer.alloc(0);
  return { status: error ? 127 : (status ?? 1), stdout: stdout ?? empty, stderr: stderr ?? empty };
}
