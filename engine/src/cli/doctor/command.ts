/** `ductor doctor`. What it needs is loaded when it is called: other commands stay quick. */
import { type Command, Option } from 'commander';
import { type CliContext, describedCommand } from '../context.js';
import { duration } from '../options.js';
import type { DoctorOptions } from './run-doctor.js';

/** Adds the command. */
export function doctorCommand(root: Command, context: CliContext): void {
  describedCommand(root, {
    usage: 'doctor',
    summary: 'check database, schema, plans, nodes and runs; says what is wrong and what to do',
    examples: [
      ['ductor doctor', 'the database and engine of the `ductor dev` in this folder'],
      ['DATABASE_URL=postgresql://db/ductor ductor doctor --json', 'any database; for scripts'],
      ['ductor doctor --capacity', 'also try admission, cancellation and drain, in a pool that goes again'],
      ['ductor doctor --restart-within 5m', 'and that what is held outlives the restart that you make meanwhile'],
    ],
  })
    .option('--json', 'print {"ok", "findings"} as JSON')
    .addOption(new Option('--data-dir <folder>', 'data folder of a running `ductor dev` (default: .ductor)'))
    .option('--capacity', 'start runs in a pool of its own and see that limits hold; needs an engine')
    .option('--restart-within <duration>', 'with --capacity: wait so long for a restart of the engine', duration)
    .addHelpText(
      'after',
      '\nLooks at DATABASE_URL, else at the database of `ductor dev`; and at the engine where one is named.\n' +
        'Changes nothing, but for --capacity: that makes pool and recipient ductor-doctor in the tenant of\n' +
        'the key and removes them; two workflows ductor-doctor-… stay. The key needs scopes for all of these\n' +
        'and for runs.\n' +
        'Exit code 1 when something is FAIL.\n',
    )
    .action(async (options: DoctorOptions) => {
      const { runDoctor } = await import('./run-doctor.js');
      await runDoctor(context, options);
    });
}
