/** The command line: what `ductor` understands. */
import { Command, CommanderError } from 'commander';
import { ENGINE_VERSION, systemClock } from '../kernel/index.js';
import { assignmentCommands } from './assignment/commands.js';
import { bundleCommands } from './bundle/commands.js';
import { capacityCommands } from './capacity/commands.js';
import { claimCommands } from './claim/commands.js';
import type { CliContext } from './context.js';
import { doctorCommand } from './doctor/command.js';
import { endpointCommands } from './endpoint/commands.js';
import { explain } from './explain.js';
import { serverCommands } from './server-commands.js';
import { processTerminal, type Terminal } from './output/terminal.js';
import { poolCommands } from './pool/commands.js';
import { recipientCommands } from './recipient/commands.js';
import { routeCommands } from './route/commands.js';
import { ruleCommands } from './rule/commands.js';
import { runCommands } from './run/commands.js';
import { scheduleCommands } from './schedule/commands.js';
import { tenancyCommands } from './tenancy/commands.js';
import { workflowCommands } from './workflow/commands.js';

type Env = Readonly<Record<string, string | undefined>>;

const EXIT_CODES = `
Exit codes: 0 done, 1 failed, 2 wrong usage.
Commands that call an engine take its address from DUCTOR_ADDRESS and their key from DUCTOR_API_KEY, or both from the
\`ductor dev\` that keeps its data in .ductor here. NO_COLOR switches colours off.
`;

/**
 * Runs a command line to its end. Returns the exit code: 0 done, 1 failed, 2 wrong usage.
 *
 * @param argv as process.argv
 * @param env as process.env
 * @param terminal where it writes; default: the process's outputs
 */
export async function runProgram(argv: readonly string[], env: Env, terminal = processTerminal(env)): Promise<number> {
  let hasFailed = false;
  const fail = (): void => void (hasFailed = true);
  try {
    await program({ env, terminal, clock: systemClock(), fail }).parseAsync([...argv]);
    return hasFailed ? 1 : 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    terminal.err(explain(error));
    return 1;
  }
}

/** The whole tree of commands. */
function program(context: CliContext): Command {
  const root = new Command('ductor')
    .description('The clearing layer for autonomous work: durable workflows, routing and capacity in one engine.')
    .version(ENGINE_VERSION)
    // `ductor workflow show hello --version 1` asks for a workflow's version, not for this program's.
    .enablePositionalOptions()
    .addHelpText('after', EXIT_CODES);
  serverCommands(root, context);
  workflowCommands(root, context);
  runCommands(root, context);
  endpointCommands(root, context);
  scheduleCommands(root, context);
  poolCommands(root, context);
  recipientCommands(root, context);
  ruleCommands(root, context);
  routeCommands(root, context);
  assignmentCommands(root, context);
  claimCommands(root, context);
  bundleCommands(root, context);
  capacityCommands(root, context);
  tenancyCommands(root, context);
  doctorCommand(root, context);
  behave(root, context.terminal);
  return root;
}

/** A command, for the docs. */
interface CommandText {
  /** "ductor run show". */
  readonly path: string;
  readonly help: string;
}

/** Every command that does something, with its help as a terminal of 100 columns shows it. */
export function commandTexts(): readonly CommandText[] {
  let help = '';
  const terminal: Terminal = {
    ...{ isLive: false, hasColour: false, isUnicode: true, columns: () => 100, rows: () => 0 },
    out: (text) => void (help += text),
    err: () => undefined,
  };
  const walk = (command: Command): CommandText[] => {
    if (command.commands.length > 0) return command.commands.flatMap(walk);
    help = '';
    command.outputHelp();
    return [{ path: pathOf(command), help }];
  };
  return walk(program({ env: {}, terminal, clock: systemClock(), fail: () => undefined }));
}

/** How all commands of a tree leave, and where they write; commands know nothing of their parents' ways. */
function behave(command: Command, terminal: Terminal): void {
  command
    .exitOverride()
    .enablePositionalOptions()
    .configureOutput({
      writeOut: (text) => terminal.out(text),
      writeErr: (text) => terminal.err(text),
      getOutHelpWidth: () => terminal.columns(),
      getErrHelpWidth: () => terminal.columns(),
      getOutHasColors: () => terminal.hasColour,
      getErrHasColors: () => terminal.hasColour,
    })
    .showHelpAfterError(`(try: ${pathOf(command)} --help)`);
  for (const child of command.commands) behave(child, terminal);
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
