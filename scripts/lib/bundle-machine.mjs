// Puts the engine's pure rooms (definitions, machine, journal, expressions) in one file of the SDK, for its testing
// part.
// With them go the few small libraries they use, and their licences; nothing of a database or a network is among them.
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { ROOT } from './tool.mjs';

/** What the SDK depends on itself: not bundled. */
const SHARED = ['@bufbuild/protobuf', '@bufbuild/protobuf/*', 'zod'];
/** Libraries that may be bundled. Any other means that the entry has come to import what it must not. */
const BUNDLED = ['@marcbachmann/cel-js', 'croner', 'lru-cache', 're2js'];

/** Says of our own modules that importing them does nothing: what a room shows and nobody here uses stays out. */
const ourModules = {
  name: 'our-modules',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^\./ }, async ({ path, pluginData, ...from }) => {
      if (pluginData === 'resolved' || from.importer.includes('node_modules')) return undefined;
      return { ...(await resolve(path, { ...from, pluginData: 'resolved' })), sideEffects: false };
    });
  },
};

/** The package that a bundled file belongs to; undefined: it is ours. */
function packageOf(path) {
  const parts = path.split('node_modules/').at(-1)?.split('/') ?? [];
  if (!path.includes('node_modules/')) return undefined;
  return parts[0]?.startsWith('@') ? `${parts[0]}/${parts[1]}` : parts[0];
}

/** The text of a package's licence. */
function licenceOf(name) {
  const folder = join(ROOT, 'node_modules', name);
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const text =
    file !== undefined && existsSync(join(folder, file)) ? readFileSync(join(folder, file), 'utf8') : license;
  return `${name} ${version}\n\n${text.trim()}\n`;
}

/**
 * Bundles an entry as CommonJS, and writes the licences beside it.
 *
 * @param {string} entry its source
 * @param {string} file where the bundle goes
 */
export async function bundleMachine(entry, file) {
  const { metafile } = await build({
    ...{ entryPoints: [entry], outfile: file, bundle: true, metafile: true, logLevel: 'warning' },
    ...{ platform: 'node', format: 'cjs', target: 'node20', external: SHARED, plugins: [ourModules] },
    // Said of modules that are looked at and left out.
    logOverride: { 'empty-import-meta': 'silent' },
  });
  const used = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.entries(inputs));
  const inside = used.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([path]) => path);
  const packages = [...new Set(inside.map(packageOf))].filter((name) => name !== undefined);
  const foreign = packages.filter((name) => !BUNDLED.includes(name));
  if (foreign.length > 0) throw new Error(`the testing part of the SDK would bundle ${foreign.join(', ')}`);
  const licences = packages
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map(licenceOf)
    .join(`\n${'-'.repeat(80)}\n\n`);
  writeFileSync(file.replace(/\.js$/, '.licenses.txt'), `Libraries in this file:\n\n${licences}`);
}
