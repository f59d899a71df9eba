// Writes docs/cli.md from the commands themselves. --check: fails when the file holds anything else.
import { register } from 'tsx/esm/api';
import { writePage } from './lib/written-page.mjs';

register();
const { commandTexts } = await import('../engine/src/cli/program.ts');

const commands = commandTexts();
const section = ({ path, help }) => `## ${path}\n\n\`\`\`text\n${help.trimEnd()}\n\`\`\`\n`;

const page = `# Command line

Exit codes: 0 done, 1 failed, 2 wrong usage. \`run watch\` and \`run trigger --wait\` also end with 1 when the run does
not end \`COMPLETED\`, \`doctor\` when it finds something that is \`FAIL\`.

Commands that call an engine take its address from \`DUCTOR_ADDRESS\` and their key from \`DUCTOR_API_KEY\`, or both
from the \`ductor dev\` that keeps its data in \`.ductor\` of the current folder. With \`--json\` they print the JSON of
the REST door. On a terminal they use colours and redraw progress in place; elsewhere they print plain lines. Results go
to standard output, everything else to standard error.

This page is generated from the commands by \`node scripts/generate-cli-docs.mjs\`.

${commands.map(section).join('\n')}`;

await writePage(new URL('../docs/cli.md', import.meta.url), page, 'node scripts/generate-cli-docs.mjs');
