/** `ductor run …`. */
import type { Command } from 'commander';
import { clientCommand, describedCommand, type CliContext, type ClientOptions } from '../context.js';
import { duration, pair, wholeNumber } from '../options.js';
import { formatOption } from '../picture/format.js';
import { queryRun, updateRun, type UpdateOptions } from './ask.js';
import { BATCH_ACTION_NAMES, batchRuns, listDeadLetters, type BatchOptions, type DeadLettersOptions } from './batch.js';
import { exportRun, replayRun, type ExportOptions, type ReplayOptions } from './bundle.js';
import { controlRun, type ControlOptions } from './control.js';
import { explainRun } from './explain-run.js';
import { forkRun, type ForkOptions } from './fork.js';
import { showHistory } from './history.js';
import { listRuns, RUN_STATE_NAMES, type ListOptions } from './list.js';
import { showRun, type ShowRunOptions } from './show.js';
import { approveRun, signalRun, signalWithStart } from './signal.js';
import type { ApproveOptions, SignalOptions, SignalStartOptions } from './signal.js';
import { triggerRun, type TriggerOptions } from './trigger.js';
import { watchRun, type WatchOptions } from './watch.js';

const MAX_VERSION = 2 ** 32 - 1;
const EXIT_NOTE = '\nExit code 1 unless the run ends COMPLETED.\n';

function startingCommands(group: Command, context: CliContext): void {
  clientCommand(group, {
    usage: 'trigger <workflow>',
    summary: 'start a run',
    examples: [
      [`ductor run trigger hello --input '{"name": "Ada"}'`, 'prints the run that was started'],
      ['ductor run trigger hello --input @lead.json --key lead-1', 'a key makes it safe to repeat'],
      ['ductor run trigger hello --wait --timeout 1m', 'waits for the end, and prints the output'],
    ],
  })
    .option('--input <json>', 'input as JSON, @FILE, or - for standard input; default: null')
    .option('--key <key>', 'idempotency key: the same key answers the run that was started first')
    .option('--run-key <key>', 'at most one run is open with a key: while one is, that is the answer')
    .option('--refuse', 'with --run-key: fail while one is open')
    .option('--attribute <name=value>', 'searchable label; may be repeated', pair)
    .option('--version <number>', 'this version instead of the current one', wholeNumber(1, MAX_VERSION))
    .option('--retention <duration>', 'keep the run so long after its end (1m to 3650d)', duration)
    .option('--wait', 'watch the run until it ends')
    .option('--timeout <duration>', 'with --wait: stop watching after so long; the run goes on', duration)
    .addHelpText('after', EXIT_NOTE.replace('unless', 'with --wait, unless'))
    .action((slug: string, options: TriggerOptions) => triggerRun(context, slug, options));
  clientCommand(group, {
    usage: 'watch <run>',
    summary: 'follow a run until it ends, over restarts of the engine',
    examples: [
      ['ductor run watch 01986b…', 'drawn in place on a terminal, a line for each change elsewhere'],
      ['ductor run watch 01986b… --json', 'a line of JSON for each change'],
    ],
  })
    .option('--timeout <duration>', 'stop watching after so long; the run goes on', duration)
    .addHelpText('after', EXIT_NOTE)
    .action((runId: string, options: WatchOptions) => watchRun(context, runId, options));
}

function readingCommands(group: Command, context: CliContext): void {
  clientCommand(group, {
    usage: 'list',
    summary: 'list runs, newest first',
    examples: [
      ['ductor run list --state parked', 'what waits for people'],
      ['ductor run list --workflow hello --limit 200 --json', 'the same as GET /api/runs'],
    ],
  })
    .option('--state <state>', `only runs in this state: ${RUN_STATE_NAMES.join(', ')}`)
    .option('--workflow <workflow>', 'only runs of this workflow')
    .option('--parent <run>', 'only runs that steps of this run started')
    .option('--family <run>', 'only the runs below this one, children and their children')
    .option('--limit <count>', 'at most so many (1 to 200)', wholeNumber(1, 200), 50)
    .option('--cursor <cursor>', 'go on after an earlier page')
    .action((options: ListOptions) => listRuns(context, options));
  clientCommand(group, {
    usage: 'show <run>',
    summary: 'draw where a run stands, and say what each step waits for',
    examples: [
      ['ductor run show 01986b…', 'the graph with the states of its steps'],
      ['ductor run show 01986b… --format mermaid', 'the same for a document'],
    ],
  })
    .addOption(formatOption())
    .action((runId: string, options: ShowRunOptions) => showRun(context, runId, options));
  clientCommand(group, {
    usage: 'explain <run>',
    summary: 'say the one reason a run waits for, and what can be done about it',
    examples: [['ductor run explain 01986b…', 'a timer, a worker, people, or nothing: it has ended']],
  }).action((runId: string, options: ClientOptions) => explainRun(context, runId, options));
  clientCommand(group, {
    usage: 'history <run>',
    summary: 'print what the journal says of a run, fact by fact',
    examples: [['ductor run history 01986b…', 'one line for each recorded fact']],
  }).action((runId: string, options: ClientOptions) => showHistory(context, runId, options));
}

/** Commands about bundles. */
function bundleCommands(group: Command, context: CliContext): void {
  clientCommand(group, {
    usage: 'export <run>',
    summary: 'write all there is of a run to a file: definition, journal, large values',
    examples: [
      ['ductor run export 01986b… --out run.jsonl', 'a part a line, as GET /api/runs/…:export answers it'],
      ['ductor run export 01986b… > run.jsonl', 'the same'],
    ],
  })
    .option('--out <file>', 'write this file; default: standard output')
    .action((runId: string, options: ExportOptions) => exportRun(context, runId, options));
  describedCommand(group, {
    usage: 'replay <file>',
    summary: 'replay an exported run without engine and database, and say whether every row is the same',
    examples: [
      ['ductor run replay run.jsonl', 'names the first row that differs; - reads standard input'],
      ['ductor run replay run.jsonl --definition lead-intake.json', 'as if it had executed another definition'],
    ],
  })
    .option('--definition <file>', 'this definition instead of the exported one')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExit code 1 unless every row is the same.\n')
    .action((path: string, options: ReplayOptions) => replayRun(context, path, options));
}

function forkCommand(group: Command, context: CliContext): void {
  clientCommand(group, {
    usage: 'fork <run>',
    summary: 'start a run that takes over what another one came to, up to a step',
    examples: [
      ['ductor run fork 01986b… --from charge --dry-run', 'says which steps are kept and which run again'],
      ['ductor run fork 01986b… --from charge --version 4', 'with the steps of another version'],
    ],
  })
    .requiredOption('--from <step>', 'the first step that runs again, with all that follow from it')
    .option('--version <number>', 'this version instead of that of the run', wholeNumber(1, MAX_VERSION))
    .option('--dry-run', 'start nothing, say what would be')
    .option('--key <key>', 'idempotency key: the same key answers the fork that was started first')
    .option('--reason <text>', 'why; at most 4096 characters')
    .action((runId: string, options: ForkOptions) => forkRun(context, runId, options));
}

/** Commands that change a run. */
function controllingCommands(group: Command, context: CliContext): void {
  const reasoned = (what: 'cancel' | 'terminate' | 'pause', summary: string, example: string): void => {
    clientCommand(group, {
      usage: `${what} <run>`,
      summary,
      examples: [[`ductor run ${what} 01986b… --reason "${example}"`, 'the reason stands in the history']],
    })
      .option('--reason <text>', 'why; at most 4096 characters')
      .action((runId: string, options: ControlOptions) => controlRun(context, what, runId, options));
  };
  reasoned('cancel', 'ask a run to end: running steps are told to stop and are waited for', 'ordered twice');
  reasoned('terminate', 'end a run at once: what its steps still answer is ignored', 'stuck for good');
  reasoned('pause', 'hold a run: nothing new begins, running steps may end', 'provider is down');
  const resuming = 'let a run go on that is paused or parked';
  clientCommand(group, {
    usage: 'resume <run>',
    summary: resuming,
    examples: [['ductor run resume 01986b…', resuming]],
  }).action((runId: string, options: ControlOptions) => controlRun(context, 'resume', runId, options));
  clientCommand(group, {
    usage: 'retry <run>',
    summary: 'try again what went wrong: of a parked run in place, of one that has ended by a new run',
    examples: [
      ['ductor run retry 01986b…', 'a parked run goes on at once; a new run keeps what ended well in one that failed'],
      ['ductor run retry 01986b… --from charge --key again-1', 'this step and all that follow from it'],
    ],
  })
    .option('--from <step>', 'of a run that has ended: the first step that runs again')
    .option('--key <key>', 'of a run that has ended: the same key answers the run that was started first')
    .option('--reason <text>', 'why; at most 4096 characters')
    .action((runId: string, options: ControlOptions) => controlRun(context, 'retry', runId, options));
}

/** Commands that say something to a run. */
function speakingCommands(group: Command, context: CliContext): void {
  clientCommand(group, {
    usage: 'signal <run> <name>',
    summary: 'send a signal: the run hears it exactly once, or it is refused',
    examples: [
      [`ductor run signal 01986b… paid --payload '{"amount": 12.5}'`, 'a step that waits for it goes on'],
      ['ductor run signal 01986b… paid --id invoice-17', 'an id makes it safe to repeat'],
    ],
  })
    .option('--payload <json>', 'payload as JSON, @FILE, or - for standard input; default: null')
    .option('--id <id>', 'the same id is heard once, within 24 hours')
    .action((runId: string, name: string, options: SignalOptions) => signalRun(context, runId, name, options));
  clientCommand(group, {
    usage: 'signal-with-start <workflow> <name>',
    summary: 'signal the open run of a run key, or start one that has received the signal when it begins',
    examples: [
      [`ductor run signal-with-start cart add --run-key ada --payload '{"item": 7}'`, 'one run for each customer'],
    ],
  })
    .requiredOption('--run-key <key>', 'at most one run of the workflow is open with it')
    .option('--payload <json>', 'payload as JSON, @FILE, or - for standard input; default: null')
    .option('--id <id>', 'the same id is heard once, within 24 hours')
    .option('--input <json>', 'of a run that is started: input as JSON, or @FILE; default: null')
    .option('--attribute <name=value>', 'of a run that is started: searchable label; may be repeated', pair)
    .option('--version <number>', 'of a run that is started: this version', wholeNumber(1, MAX_VERSION))
    .option('--retention <duration>', 'of a run that is started: keep it so long after its end', duration)
    .action((slug: string, name: string, options: SignalStartOptions) => signalWithStart(context, slug, name, options));
  clientCommand(group, {
    usage: 'approve <run> <approval>',
    summary: 'decide an approval',
    examples: [
      ['ductor run approve 01986b… review --by ada@example.com', 'approves'],
      ['ductor run approve 01986b… review --option reject --comment "no budget"', 'another option'],
    ],
  })
    .option('--option <name>', 'what is decided; default: approve')
    .option('--by <name>', 'who decides, one of the assignees; default: the key')
    .option('--comment <text>', 'why; at most 4096 characters')
    .option('--form <json>', 'the form as JSON, @FILE, or - for standard input')
    .option('--id <id>', 'the same id is heard once, within 24 hours')
    .action((runId: string, name: string, options: ApproveOptions) => approveRun(context, runId, name, options));
}

/** Commands that ask something of a run. */
function askingCommands(group: Command, context: CliContext): void {
  clientCommand(group, {
    usage: 'update <run> <name>',
    summary: 'send an update, and print what the step that takes it answers',
    examples: [
      [`ductor run update 01986b… change-address --input '{"city": "Paris"}'`, 'prints the answer'],
      ['ductor run update 01986b… change-address --id change-1', 'an id makes it safe to repeat, and to ask again'],
    ],
  })
    .option('--input <json>', 'input as JSON, @FILE, or - for standard input; default: null')
    .option('--id <id>', 'the same id is taken once, within 24 hours')
    .option('--wait <duration>', 'wait so long for the answer, at most 60s; default: 10s')
    .action((runId: string, name: string, options: UpdateOptions) => updateRun(context, runId, name, options));
  clientCommand(group, {
    usage: 'query <run> <name>',
    summary: 'print what a run tells of itself under a name, open or closed; no worker is asked',
    examples: [['ductor run query 01986b… progress', 'a query of its definition, as the run stands']],
  }).action((runId: string, name: string, options: ClientOptions) => queryRun(context, runId, name, options));
}

/** Commands about many runs. */
function batchCommands(group: Command, context: CliContext): void {
  clientCommand(group, {
    usage: 'batch <action>',
    summary: `do the same with many runs: ${BATCH_ACTION_NAMES.join(', ')}`,
    examples: [
      ['ductor run batch cancel --workflow hello', 'shows how many there are, and the first ten; changes nothing'],
      ['ductor run batch cancel --workflow hello --yes --reason "wrong price"', 'carries it out, page by page'],
      ['ductor run batch retry --fingerprint 3f2a… --yes', 'one group of dead letters'],
      ['ductor run batch retry --state failed --workflow hello', 'runs that have ended, each by a new run'],
    ],
  })
    .option('--state <state>', 'only runs in this state')
    .option('--workflow <workflow>', 'only runs of this workflow')
    .option('--attribute <name=value>', 'only runs that have it; may be repeated', pair)
    .option('--after <instant>', 'only runs that started at this instant or later')
    .option('--before <instant>', 'only runs that started before it')
    .option('--fingerprint <fingerprint>', 'only parked runs of this group of dead letters')
    .option('--reason <text>', 'why; at most 4096 characters')
    .option('--yes', 'carry it out; without it nothing is changed')
    .option('--confirmation <text>', 'of a batch that broke off: go on with it')
    .option('--cursor <cursor>', 'with --confirmation: after the last page that was carried out')
    .action((action: string, options: BatchOptions) => batchRuns(context, action, options));
  clientCommand(group, {
    usage: 'dead-letters',
    summary: 'list parked runs by what parked them: workflow, step and code',
    examples: [['ductor run dead-letters', 'each with its count, when it last came, and an example']],
  })
    .option('--workflow <workflow>', 'only runs of this workflow')
    .option('--cursor <cursor>', 'go on after an earlier page')
    .action((options: DeadLettersOptions) => listDeadLetters(context, options));
}

/** Adds the commands. */
export function runCommands(root: Command, context: CliContext): void {
  const group = root.command('run').description('start, list, show, watch, explain and stop runs');
  startingCommands(group, context);
  readingCommands(group, context);
  bundleCommands(group, context);
  forkCommand(group, context);
  controllingCommands(group, context);
  batchCommands(group, context);
  speakingCommands(group, context);
  askingCommands(group, context);
}
