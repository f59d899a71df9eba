// Writes docs/errors.md from the error catalogue. --check: fails when the file holds anything else.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { register } from 'tsx/esm/api';
import { format, resolveConfig } from 'prettier';

const FILE = new URL('../docs/errors.md', import.meta.url);

register();
const { ERROR_CATALOGUE, RETIRED_CODES } = await import('../engine/src/kernel/errors/catalogue.ts');

const entry = ([code, kind]) => `## ${code}

${kind.meaning}

- Status: gRPC \`${kind.grpc}\`, HTTP ${kind.http}
- The same call may succeed later: ${kind.retryable ? 'yes' : 'no'}
- What to do: ${kind.remedy}
`;

const retired = RETIRED_CODES.length === 0 ? 'None yet.' : RETIRED_CODES.map((code) => `- \`${code}\``).join('\n');

const page = `# Errors

Every failure that Ductor answers carries one of these codes, the same through gRPC, REST, the SDK and in stored
failures. Match on the code; messages are for people and change. An answer may carry \`details\` (everything that is
wrong, each with its path) and a remedy more exact than the one below.

This page is generated from \`engine/src/kernel/errors/catalogue.ts\` by \`node scripts/generate-error-docs.mjs\`.

${Object.entries(ERROR_CATALOGUE)
  .sort(([a], [b]) => (a < b ? -1 : 1))
  .map(entry)
  .join('\n')}
## Retired codes

Codes that were released once and never come back with another meaning.

${retired}
`;

const config = (await resolveConfig(FILE)) ?? {};
const text = await format(page, { ...config, parser: 'markdown' });
if (!process.argv.includes('--check')) {
  writeFileSync(FILE, text);
} else if (!existsSync(FILE) || readFileSync(FILE, 'utf8') !== text) {
  console.error('docs/errors.md differs from the error catalogue: run node scripts/generate-error-docs.mjs');
  process.exit(1);
}
