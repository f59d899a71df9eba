// The SDK's code exists once, as CommonJS; its entries for `import` name what they pass on. So an app of which one part
// imports and another one requires has one class of each error, not two that do not know each other.
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/**
 * Writes a module for each entry beside its types.
 *
 * @param {string} dist folder that holds the types, and the code below `cjs`
 * @param {readonly string[]} entries paths of entry files, without ending
 */
export function writeEsmEntries(dist, entries) {
  const require = createRequire(join(dist, 'index.js'));
  writeFileSync(join(dist, 'cjs/package.json'), '{ "type": "commonjs", "imports": { "#machine": "./machine.js" } }\n');
  for (const entry of entries) {
    const names = Object.keys(require(`./cjs/${entry}.js`)).toSorted();
    const list = names.map((name) => `  ${name},\n`).join('');
    const up = '../'.repeat(entry.split('/').length - 1) || './';
    writeFileSync(join(dist, `${entry}.js`), `export {\n${list}} from '${up}cjs/${entry}.js';\n`);
  }
}
