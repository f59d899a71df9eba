// Checks on another release of Node.js than the one that runs this: what users of the engine and the SDK do first.
import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { ROOT, runTool } from './tool.mjs';

/** The newest long-term release; the project's own is the oldest that it supports. */
const VERSION = '24.21.0';
/** What uses the engine as a process, the SDK, and the embedded database. */
const TESTS = ['test/e2e/hello-world.test.ts', 'test/e2e/sdk.test.ts'];

/** Installs the release, once for a machine; answers the folder of its program, or undefined when it cannot be had. */
function install() {
  const folder = join(tmpdir(), `ductor-node-${VERSION}`);
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  const bin = join(folder, 'node_modules', name, 'bin');
  if (existsSync(bin)) return bin;
  mkdirSync(folder, { recursive: true });
  const args = ['install', '--prefix', folder, '--no-save', '--no-package-lock', '--no-audit', `${name}@${VERSION}`];
  runTool('npm', args, { cwd: folder });
  return existsSync(bin) ? bin : undefined;
}

/** The checks; one that fails when the release cannot be had. */
export function otherNodeChecks() {
  const bin = install();
  const name = `Node.js ${VERSION}`;
  if (bin === undefined) {
    return [{ name, command: 'sh', args: ['-c', `echo "Node.js ${VERSION} could not be installed"; exit 1`] }];
  }
  const path = [bin, join(ROOT, 'node_modules', '.bin'), process.env.PATH ?? ''].join(delimiter);
  const env = { PATH: path };
  const isIt = `process.exit(process.versions.node === '${VERSION}' ? 0 : 1)`;
  return [
    { name: `${name}: it is`, command: join(bin, 'node'), args: ['-e', isIt], env },
    { name: `${name}: build`, command: 'npm', args: ['run', '--silent', 'build'], env },
    { name: `${name}: e2e`, command: 'vitest', args: ['run', '--project', 'process', ...TESTS], env, isVitest: true },
    { name: `${name}: demo`, command: 'npm', args: ['run', '--silent', 'demo'], env },
  ];
}
