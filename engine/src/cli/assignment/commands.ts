/** `ductor assignment …`. */
import type { Command } from 'commander';
import { AssignmentState } from '../../gen/ductor/v1/assignment.js';
import { clientCommand, type CliContext, type ClientOptions } from '../context.js';
import { enumOption } from '../enum-option.js';
import { pageOptions } from '../list-page.js';
import { controlAssignment, setWorkState, type AssignmentAct, type AssignmentControlOptions } from './control.js';
import { getAssignment, listAssignments, type ListAssignmentsOptions } from './list.js';

/** What each does, what an example of it says, and whether it takes a reason. */
const ACTS: readonly (readonly [AssignmentAct, string, string, boolean])[] = [
  ['accept', 'take an offer, as its recipient: its units are committed', 'under the limit as it is now', false],
  ['decline', 'turn an offer down, as its recipient', 'nothing is taken', true],
  ['confirm', 'make an offer binding, as who sent the work', 'under the limit as it is now', false],
  [
    'respond',
    'say that its recipient has answered: the clock of the first response stops',
    'again changes nothing',
    true,
  ],
  ['complete', 'say that the work is done: its units are free again', 'again is fine and changes nothing', false],
  ['release', 'take the work away: its units are free again', 'the work is not done', true],
];

/** Adds the commands. */
export function assignmentCommands(root: Command, context: CliContext): void {
  const group = root.command('assignment').description('work that recipients have: docs/routing.md, "Assignments"');
  const list = clientCommand(group, {
    usage: 'list',
    summary: 'list assignments, latest first',
    examples: [['ductor assignment list --pool billing --state active', 'what takes units now']],
  })
    .option('--pool <pool>', 'only of this pool, by name or id')
    .option('--recipient <id>', 'only of this recipient')
    .option('--run <id>', 'only those that steps of this run made')
    .addOption(enumOption('--state <state>', 'only these', { ...AssignmentState }, 'ASSIGNMENT_STATE_'));
  pageOptions(list).action((options: ListAssignmentsOptions) => listAssignments(context, options));
  clientCommand(group, {
    usage: 'get <assignment>',
    summary: 'print an assignment',
    examples: [['ductor assignment get ASSIGNMENT_ID --json', 'the same as GET /api/assignments/{assignment_id}']],
  }).action((id: string, options: ClientOptions) => getAssignment(context, id, options));
  for (const [act, summary, meaning, hasReason] of ACTS) {
    const examples = [[`ductor assignment ${act} ASSIGNMENT_ID`, meaning]] as const;
    const command = clientCommand(group, { usage: `${act} <assignment>`, summary, examples });
    if (hasReason) command.option('--reason <text>', 'why, for the audit trail');
    command.action((id: string, options: AssignmentControlOptions) => controlAssignment(context, act, id, options));
  }
  clientCommand(group, {
    usage: 'work-state <assignment> [state]',
    summary: 'say what active work waits for; without a state: for nothing any more',
    examples: [
      ['ductor assignment work-state ASSIGNMENT_ID waiting_customer', 'clocks stand still if its pool says so'],
      ['ductor assignment work-state ASSIGNMENT_ID', 'they go on'],
    ],
  })
    .option('--reason <text>', 'why, for the audit trail')
    .action((id: string, state: string | undefined, options: AssignmentControlOptions) =>
      setWorkState(context, id, state ?? '', options),
    );
}
