/** `npm run house`: lists what the house objects to, by file; with --lower it lowers the ratchet to what is there. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { inspect } from './house.js';
import { type Ratchet, count, lowered } from './ratchet.js';
import { documentation } from './rules/docs.js';
import { castsPerKloc } from './rules/types.js';
import { readTree } from './source.js';

const RATCHET = fileURLToPath(new URL('ratchet.json', import.meta.url));
const tree = readTree(fileURLToPath(new URL('../..', import.meta.url)));
const findings = inspect(tree);

if (process.argv.includes('--lower')) {
  const accepted: Ratchet = JSON.parse(readFileSync(RATCHET, 'utf8'));
  writeFileSync(RATCHET, `${JSON.stringify(lowered(findings, accepted), null, 2)}\n`);
}
const { exports, undocumented, share } = documentation(tree);
for (const { rule, path, line, message } of [...findings, ...undocumented]) {
  console.log(`${path}:${line} ${rule}: ${message}`);
}
console.log(JSON.stringify(count(findings), null, 2));
console.log(
  `${exports} exports, ${(share * 100).toFixed(1)} % documented; ${castsPerKloc(tree).toFixed(2)} casts per kLOC`,
);
