/** Apps that have the SDK as npm would install it: from its packed tarball, with nothing of the engine in reach. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { ROOT } from './child.js';
import { scratchFolder } from './scratch.js';
import { extractPackage } from './tarball.js';

const packResult = z.tuple([z.object({ filename: z.string(), files: z.array(z.object({ path: z.string() })) })]);
const manifest = z.object({ dependencies: z.record(z.string(), z.string()).default({}) });

/** A packed package. */
export interface Packed {
  readonly tarball: string;
  readonly files: readonly string[];
}

/** Packs the SDK as `npm publish` would. It must have been built. */
export function packSdk(): Packed {
  const folder = scratchFolder('pack');
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const { status, stdout, stderr } = spawnSync('npm', args, {
    cwd: join(ROOT, 'sdk'),
    encoding: 'utf8',
    // Windows starts npm through its shell script.
    shell: process.platform === 'win32',
  });
  if (status !== 0) throw new Error(`npm pack failed: ${stderr}`);
  const [{ filename, files }] = packResult.parse(JSON.parse(stdout));
  return { tarball: join(folder, filename.replace('@', '').replace('/', '-')), files: files.map(({ path }) => path) };
}

function dependenciesOf(folder: string): readonly string[] {
  return Object.keys(manifest.parse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))).dependencies);
}

/**
 * Installs the packed SDK in an app's folder, with the packages both declare and the extra ones, linked from this
 * project's node_modules.
 */
export function installSdk(app: string, packed: Packed, extra: readonly string[] = []): void {
  const sdk = join(app, 'node_modules/@ductor/sdk');
  extractPackage(packed.tarball, sdk);
  const wanted = new Set([...dependenciesOf(app), ...dependenciesOf(sdk), ...extra]);
  wanted.delete('@ductor/sdk');
  for (const name of wanted) link(name, join(app, 'node_modules', name));
}

function link(name: string, target: string): void {
  const source = join(ROOT, 'node_modules', name);
  if (!existsSync(source)) throw new Error(`${name} is not installed in this project`);
  mkdirSync(dirname(target), { recursive: true });
  symlinkSync(source, target, 'junction');
}

/** The example app, built and installed in a folder of its own. Returns the folder. */
export function installExample(packed: Packed): string {
  const app = scratchFolder('app');
  const example = join(ROOT, 'bridge-example');
  const entry = join(example, 'dist/main.js');
  if (!existsSync(entry)) throw new Error(`${entry} is not there: run \`npm run build\``);
  cpSync(join(example, 'dist'), join(app, 'dist'), { recursive: true });
  writeFileSync(join(app, 'package.json'), readFileSync(join(example, 'package.json')));
  installSdk(app, packed);
  return app;
}

/** Which of these packages code in the app's folder could import. */
export function reachable(app: string, names: readonly string[]): readonly string[] {
  const resolver = createRequire(join(app, 'package.json'));
  return names.filter((name) => {
    const folders = resolver.resolve.paths(name) ?? [];
    return folders.some((folder) => existsSync(join(folder, name)));
  });
}
