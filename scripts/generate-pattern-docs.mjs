// Puts docs/patterns/*.ts into the blocks of docs/patterns.md that name them. --check: fails when one differs.
import { readdirSync, readFileSync } from 'node:fs';
import { writePage } from './lib/written-page.mjs';

const PAGE = new URL('../docs/patterns.md', import.meta.url);
const FOLDER = new URL('../docs/patterns/', import.meta.url);

const shown = new Set();
const page = readFileSync(PAGE, 'utf8').replace(/^```ts (\S+)\n[\s\S]*?^```$/gm, (_block, name) => {
  shown.add(name);
  return `\`\`\`ts ${name}\n${readFileSync(new URL(name, FOLDER), 'utf8')}\`\`\``;
});
const forgotten = readdirSync(FOLDER).filter((name) => !shown.has(name));
if (forgotten.length > 0) {
  console.error(`docs/patterns.md shows nothing of ${forgotten.join(', ')}: add a block that names it, \`\`\`ts NAME`);
  process.exit(1);
}
await writePage(PAGE, page, 'node scripts/generate-pattern-docs.mjs');
