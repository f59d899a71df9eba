/** `ductor dev`, `start` and `migrate`: what runs an engine. Loaded when called, so that other commands stay quick. */
import { type Command, InvalidArgumentError } from 'commander';
import { readSettings, type Settings } from '../config.js';
import { type CliContext, describedCommand } from './context.js';
import { wholeNumber } from './options.js';

const MAX_PORT = 65_535;

interface DevFlags {
  readonly port?: number;
  readonly dataDir?: string;
  readonly readyFile?: string;
}

function devCommand(root: Command, { env, terminal }: CliContext): void {
  describedCommand(root, {
    usage: 'dev',
    summary: 'start an engine for development: embedded database, a ready API key, data kept between starts',
    examples: [
      ['ductor dev', 'on port 7400, data in .ductor; other commands in the same folder find it by themselves'],
      ['ductor dev --port 0 --data-dir /tmp/try', 'on any free port, data elsewhere'],
    ],
  })
    .option('--port <port>', 'port to listen on, 0 for any free one (default: 7400)', port)
    .option('--data-dir <folder>', 'where database, key and secret are kept (default: .ductor)')
    .option('--ready-file <path>', 'write {"address", "api_key", "tenant"} there as JSON once the engine is ready')
    .action(async ({ port: asked, dataDir, readyFile }: DevFlags) => {
      const settings = readSettings(env);
      const { runDev } = await import('./dev.js');
      await runDev({
        settings: {
          ...settings,
          DUCTOR_PORT: asked ?? settings.DUCTOR_PORT,
          DUCTOR_DATA_DIR: dataDir ?? settings.DUCTOR_DATA_DIR,
          DUCTOR_EGRESS_ALLOW: developmentEgress(env, settings),
        },
        readyFile,
        terminal,
      });
    });
}

/** A development engine may call apps on its own machine where nobody has said what it may call. */
function developmentEgress(env: CliContext['env'], settings: Settings): Settings['DUCTOR_EGRESS_ALLOW'] {
  if ((env['DUCTOR_EGRESS_ALLOW'] ?? '') !== '') return settings.DUCTOR_EGRESS_ALLOW;
  return readSettings({ DUCTOR_EGRESS_ALLOW: '127.0.0.0/8, ::1' }).DUCTOR_EGRESS_ALLOW;
}

/** Adds the commands. */
export function serverCommands(root: Command, context: CliContext): void {
  const { env, terminal } = context;
  devCommand(root, context);
  describedCommand(root, {
    usage: 'start',
    summary: 'start an engine node on the PostgreSQL of DATABASE_URL; DUCTOR_SECRET must be set',
    examples: [['DATABASE_URL=postgresql://db/ductor DUCTOR_SECRET=… ductor start', 'settings: docs/configuration.md']],
  })
    .option('--ready-file <path>', 'write {"address"} there as JSON once the engine is ready')
    .action(async ({ readyFile }: { readonly readyFile?: string }) => {
      const settings = readSettings(env);
      const { runStart } = await import('./start.js');
      await runStart({ settings, readyFile });
    });
  describedCommand(root, {
    usage: 'migrate',
    summary: 'bring the schema of DATABASE_URL up to date and exit',
    examples: [['DATABASE_URL=postgresql://db/ductor ductor migrate', 'an engine migrates by itself when it starts']],
  }).action(async () => {
    const settings = readSettings(env);
    const { runMigrate } = await import('./migrate.js');
    await runMigrate(settings, terminal);
  });
}

function port(text: string): number {
  try {
    return wholeNumber(0, MAX_PORT)(text);
  } catch {
    throw new InvalidArgumentError(`${JSON.stringify(text)} is not a port: use a whole number from 0 to 65535.`);
  }
}
