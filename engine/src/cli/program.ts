/** The command line: what `ductor` understands. */
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { readSettings } from '../config.js';
import { DuctorError } from '../kernel/index.js';
import { runDev } from './dev.js';
import { runMigrate } from './migrate.js';
import { runStart } from './start.js';

type Env = Readonly<Record<string, string | undefined>>;

/** Version of the engine, as `ductor --version` prints it. */
export const ENGINE_VERSION = '0.1.0';

/**
 * Runs a command line to its end. Returns the exit code: 0 done, 1 failed, 2 wrong usage.
 *
 * @param argv as process.argv
 * @param env as process.env
 */
export async function runProgram(argv: readonly string[], env: Env): Promise<number> {
  try {
    await program(env).parseAsync([...argv]);
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    process.stderr.write(explain(error));
    return 1;
  }
}

function program(env: Env): Command {
  const root = new Command('ductor')
    .description('The clearing layer for autonomous work: durable workflows, routing and capacity in one engine.')
    .version(ENGINE_VERSION)
    .exitOverride()
    .showHelpAfterError('(try: ductor --help)');
  root
    .command('dev')
    .description('start an engine for development: embedded database, a ready API key, data kept between starts')
    .option('--port <port>', 'port to listen on, 0 for any free one (default: 7400)', parsePort)
    .option('--data-dir <folder>', 'where database, key and secret are kept (default: .ductor)')
    .option('--ready-file <path>', 'write {"address", "api_key", "tenant"} there as JSON once the engine is ready')
    .action(async (options: { port?: number; dataDir?: string; readyFile?: string }) => {
      const settings = readSettings(env);
      await runDev({
        settings: {
          ...settings,
          DUCTOR_PORT: options.port ?? settings.DUCTOR_PORT,
          DUCTOR_DATA_DIR: options.dataDir ?? settings.DUCTOR_DATA_DIR,
        },
        readyFile: options.readyFile,
      });
    });
  root
    .command('start')
    .description('start an engine node on the PostgreSQL of DATABASE_URL; DUCTOR_SECRET must be set')
    .option('--ready-file <path>', 'write {"address"} there as JSON once the engine is ready')
    .action((options: { readyFile?: string }) =>
      runStart({ settings: readSettings(env), readyFile: options.readyFile }),
    );
  root
    .command('migrate')
    .description('bring the schema of DATABASE_URL up to date and exit')
    .action(() => runMigrate(readSettings(env)));
  return root;
}

function parsePort(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new InvalidArgumentError(`${JSON.stringify(text)} is not a port: use a whole number from 0 to 65535.`);
}

/** What a person should read about a failure: what, where, and what to do. */
function explain(caught: unknown): string {
  const error = DuctorError.from(caught);
  const details = error.details.map(
    ({ path, value, problem, remedy }) => `  ${path} ${value === '' ? '' : `(${value}) `}${problem}. ${remedy}\n`,
  );
  const stack = error.code === 'internal' && error.cause instanceof Error ? `${error.cause.stack ?? ''}\n` : '';
  return `ductor: ${error.message} [${error.code}]\n${details.join('')}  ${error.remedy}\n${stack}`;
}
