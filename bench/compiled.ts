/**
 * A bench's node as plain JavaScript, with the engine as it is built and shipped. tsx names every function as it is
 * made: a decision took a fifth longer by that, and nobody runs the engine so.
 */
import { basename, dirname, join, relative } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { BENCH, ROOT } from './peers/places.js';
import { buildProject } from './peers/prepare.js';

const SOURCE = join(ROOT, 'engine/src/');

/** Has modules of the engine come from its dist folder. */
function engineFromDist(outFolder: string): Plugin {
  return {
    name: 'engine-from-dist',
    setup(bundling) {
      bundling.onResolve({ filter: /\/engine\/src\// }, ({ path, resolveDir }) => {
        const built = join(ROOT, 'engine/dist', relative(SOURCE, join(resolveDir, path)));
        return { path: `./${relative(outFolder, built)}`, external: true };
      });
    },
  };
}

/** Builds the project, and the bench's own modules into one file. Answers its path. */
export async function compiled(file: string): Promise<string> {
  buildProject();
  const outfile = join(BENCH, 'dist', `${basename(file, '.ts')}.mjs`);
  await build({
    entryPoints: [file],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'error',
    plugins: [engineFromDist(dirname(outfile))],
  });
  return outfile;
}
