/** `ductor migrate`. */
import type { Settings } from '../config.js';
import { DuctorError } from '../kernel/index.js';
import { migrate } from '../store/index.js';
import type { Terminal } from './output/terminal.js';

/** Migrates the database of the settings, one line per migration. Throws invalid_argument without DATABASE_URL. */
export async function runMigrate(settings: Settings, terminal: Terminal): Promise<void> {
  const url = settings.DATABASE_URL;
  if (url === undefined)
    throw new DuctorError('invalid_argument', 'DATABASE_URL is not set', {
      remedy: 'Set it to the database to migrate.',
    });
  const { applied } = await migrate({
    url,
    onProgress: ({ done, total, name }) => {
      if (name !== '') terminal.out(`migration ${done + 1} of ${total}: ${name}\n`);
    },
  });
  terminal.out(applied.length === 0 ? 'The schema is up to date.\n' : `${applied.length} migrations applied.\n`);
}
