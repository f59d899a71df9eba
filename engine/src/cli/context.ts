/** What every command is given, and how it reaches an engine. */
import { type Command, Option } from 'commander';
import type { Clock } from '../kernel/index.js';
import { findEndpoint } from './connect/endpoint.js';
import { EngineClient } from './connect/engine-client.js';
import type { Terminal } from './output/terminal.js';

/** Surroundings of a command. */
export interface CliContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly terminal: Terminal;
  readonly clock: Clock;
  /** Ends with 1 although nothing was thrown: the command did its work, and what it found is bad. */
  fail(): void;
}

/** Options of every command that calls an engine. */
export interface ClientOptions {
  readonly json?: boolean;
  readonly dataDir?: string;
}

/** How a command is described. */
export interface CommandText {
  /** Name and arguments, as commander takes them: "show <run>". */
  readonly usage: string;
  readonly summary: string;
  /** Whole command lines, each with what it does. */
  readonly examples: readonly (readonly [string, string])[];
}

/** A command with examples in its help. */
export function describedCommand(parent: Command, { usage, summary, examples }: CommandText): Command {
  const lines = examples.map(([line, meaning]) => `  ${line}\n      ${meaning}\n`);
  return parent
    .command(usage)
    .description(summary)
    .addHelpText('after', `\nExamples:\n${lines.join('')}`);
}

/** The same for a command that calls an engine. */
export function clientCommand(parent: Command, text: CommandText): Command {
  return describedCommand(parent, text)
    .option('--json', 'print JSON with the field names of the contract')
    .addOption(
      new Option('--data-dir <folder>', 'take address and key from the `ductor dev` of this folder (default: .ductor)'),
    );
}

/** Calls the engine that environment and data folder name, and lets go of it. */
export async function withEngine<T>(
  { env, clock }: CliContext,
  { dataDir }: ClientOptions,
  work: (engine: EngineClient) => Promise<T>,
): Promise<T> {
  const engine = new EngineClient(findEndpoint(env, dataDir), clock);
  try {
    return await work(engine);
  } finally {
    engine.close();
  }
}
