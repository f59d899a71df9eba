// Writes docs/configuration.md from the schema of the settings. --check: fails when the file holds anything else.
import { register } from 'tsx/esm/api';
import { writePage } from './lib/written-page.mjs';

register();
const { settingTexts } = await import('../engine/src/config.ts');

/** A cell of a table. */
const cell = (text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
const row = ({ name, byDefault, meaning }) =>
  `| \`${name}\` | ${byDefault === '' ? '' : `\`${cell(byDefault)}\``} | ${cell(meaning)} |`;

const page = `# Configuration

An engine takes its settings from the environment; an empty text counts as absent. A setting that cannot be used stops
the start, naming all that are wrong.

This page is generated from \`engine/src/config.ts\` by \`node scripts/generate-configuration-docs.mjs\`.

| setting | default | meaning |
| --- | --- | --- |
${settingTexts().map(row).join('\n')}

## Clients and workers

The SDK and the commands that call an engine read these; \`ductor dev\` writes the first two into \`.ductor/env\`, ready
for \`node --env-file=.ductor/env\`.

| setting | meaning |
| --- | --- |
${[
  ['DUCTOR_ADDRESS', '`host:port` of an engine node, or of several, separated by commas; `https://host:port` for TLS.'],
  ['DUCTOR_API_KEY', 'Key that calls are made with.'],
  [
    'DUCTOR_DATA_DIR',
    'Commands only: where a `ductor dev` keeps its data, from which address and key are taken when the two above are ' +
      'absent. Default `.ductor`.',
  ],
  ['NO_COLOR', 'Commands only: any text switches colours off.'],
]
  .map(([name, meaning]) => `| \`${name}\` | ${meaning} |`)
  .join('\n')}
`;

await writePage(
  new URL('../docs/configuration.md', import.meta.url),
  page,
  'node scripts/generate-configuration-docs.mjs',
);
