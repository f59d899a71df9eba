/** `ductor doctor`. What it needs is loaded when it is called: other commands stay quick. */
import { type Command, Option } from 'commander';
import { type CliContext, describedCommand } from '../context.js';
import type { DoctorOptions } from './run-doctor.js';

/** Adds the command. */
export function doctorCommand(root: Command, context: CliContext): void {
  describedCommand(root, {
    usage: 'doctor',
    summary: 'check database, schema, plans, nodes and runs; says what is wrong and what to do',
    examples: [
      ['ductor doctor', 'the database and engine of the `ductor dev` in this folder'],
      ['DATABASE_URL=postgresql://db/ductor ductor doctor --json', 'any database; for scripts'],
    ],
  })
    .option('--json', 'print {"ok", "findings"} as JSON')
    .addOption(new Option('--data-dir <folder>', 'data folder of a running `ductor dev` (default: .ductor)'))
    .addHelpText(
      'after',
      '\nLooks at DATABASE_URL, else at the database of `ductor dev`; and at the engine where one is named.\n' +
        'Changes nothing. Exit code 1 when something is FAIL.\n',
    )
    .action(async (options: DoctorOptions) => {
      const { runDoctor } = await import('./run-doctor.js');
      await runDoctor(context, options);
    });
}
