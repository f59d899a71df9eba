/** `ductor schedule …`. */
import type { Command } from 'commander';
import { CatchUpPolicy, OverlapPolicy } from '../../gen/ductor/v1/schedule.js';
import { clientCommand, type CliContext, type ClientOptions } from '../context.js';
import { pair, wholeNumber } from '../options.js';
import {
  backfillSchedule,
  controlSchedule,
  triggerSchedule,
  type BackfillOptions,
  type ControlOptions,
  type TriggerOptions,
} from './control.js';
import { createSchedule, optionNames, type CreateScheduleOptions } from './create.js';
import { listSchedules, type ListOptions } from './list.js';
import { listSlots, showSchedule, type SlotsOptions } from './show.js';
import { CLEARABLE_NAMES, updateSchedule, type UpdateScheduleOptions } from './update.js';

const MAX_VERSION = 2 ** 32 - 1;
const OVERLAPS = optionNames({ ...OverlapPolicy }, 'OVERLAP_POLICY_').join(', ');
const CATCH_UPS = optionNames({ ...CatchUpPolicy }, 'CATCH_UP_POLICY_').join(', ');

/** Options by which a schedule is made and changed. */
function contentOptions(command: Command): Command {
  return command
    .option('--cron <pattern>', 'minute hour day month weekday; seconds may stand in front')
    .option('--every <duration>', 'real time between slots, for example 10m')
    .option('--offset <duration>', 'with --every: so long after the full interval')
    .option('--at <times>', 'times of day, for example 09:00,17:30')
    .option('--on <days>', 'with --at: weekdays, days of the month (1 to 31, last) or dates, by commas')
    .option('--except <dates>', 'with --at: dates that never count')
    .option('--zone <zone>', 'time zone of --cron and --at, for example Europe/Berlin (default: UTC)')
    .option('--window <duration>', 'slots that are later than this are not caught up with (default: 24h)')
    .option('--jitter <duration>', 'spread starts over so long (default: 0s)')
    .option('--input <json>', 'input of its runs as JSON, @FILE, or - for standard input; default: null')
    .option('--attribute <name=value>', 'searchable label of its runs; may be repeated', pair)
    .option('--version <number>', 'this version instead of the current one', wholeNumber(1, MAX_VERSION))
    .option('--title <title>', 'for people')
    .option('--starts <instant>', 'no slot before it')
    .option('--ends <instant>', 'no slot after it');
}

function creatingCommand(group: Command, context: CliContext): void {
  const tell = '--overlap skip --catch-up latest';
  const create = clientCommand(group, {
    usage: 'create <schedule>',
    summary: 'make a schedule: when runs of a workflow start, and what happens when that does not fit',
    examples: [
      [
        `ductor schedule create nightly --workflow report --cron "0 2 * * *" --zone Europe/Berlin ${tell}`,
        'each night',
      ],
      [`ductor schedule create poll --workflow poll --every 10m ${tell}`, 'every ten minutes'],
      [`ductor schedule create pay --workflow pay --at 09:00 --on 15,last ${tell}`, 'the 15th and the last of a month'],
    ],
  })
    .requiredOption('--workflow <workflow>', 'whose runs it starts')
    .requiredOption('--overlap <policy>', `what becomes of a slot while an earlier run is open: ${OVERLAPS}`)
    .requiredOption('--catch-up <policy>', `what becomes of slots that passed while no engine ran: ${CATCH_UPS}`);
  contentOptions(create).action((slug: string, options: CreateScheduleOptions) =>
    createSchedule(context, slug, options),
  );
}

function changingCommand(group: Command, context: CliContext): void {
  const update = clientCommand(group, {
    usage: 'update <schedule>',
    summary: 'change what is given, and leave the rest as it is; new times begin after now',
    examples: [
      ['ductor schedule update nightly --cron "0 3 * * *" --zone Europe/Berlin', 'an hour later'],
      ['ductor schedule update nightly --clear ends,title', 'no last instant any more, and no title'],
    ],
  })
    .option('--overlap <policy>', `what becomes of a slot while an earlier run is open: ${OVERLAPS}`)
    .option('--catch-up <policy>', `what becomes of slots that passed while no engine ran: ${CATCH_UPS}`)
    .option('--clear <names>', `by commas, back to what it is without: ${CLEARABLE_NAMES.join(', ')}`);
  contentOptions(update).action((id: string, options: UpdateScheduleOptions) => updateSchedule(context, id, options));
}

function readingCommands(group: Command, context: CliContext): void {
  clientCommand(group, {
    usage: 'list',
    summary: 'list schedules by name',
    examples: [['ductor schedule list --json', 'the same as GET /api/schedules']],
  })
    .option('--limit <count>', 'at most so many (1 to 200)', wholeNumber(1, 200), 50)
    .option('--cursor <cursor>', 'go on after an earlier page')
    .action((options: ListOptions) => listSchedules(context, options));
  clientCommand(group, {
    usage: 'show <schedule>',
    summary: 'print a schedule and its next slots',
    examples: [['ductor schedule show nightly', 'by its name or its id']],
  }).action((id: string, options: ClientOptions) => showSchedule(context, id, options));
  clientCommand(group, {
    usage: 'slots <schedule>',
    summary: 'say what became of each slot, newest first, and why',
    examples: [['ductor schedule slots nightly', 'started, skipped, missed or failed']],
  })
    .option('--limit <count>', 'at most so many (1 to 200)', wholeNumber(1, 200), 50)
    .option('--cursor <cursor>', 'go on after an earlier page')
    .action((id: string, options: SlotsOptions) => listSlots(context, id, options));
}

function controllingCommands(group: Command, context: CliContext): void {
  clientCommand(group, {
    usage: 'pause <schedule>',
    summary: 'let no slots come until it is resumed',
    examples: [['ductor schedule pause nightly --reason "provider is down"', 'the reason stands in the audit trail']],
  })
    .option('--reason <text>', 'why; at most 1024 characters')
    .action((id: string, options: ControlOptions) => controlSchedule(context, 'pause', id, options));
  clientCommand(group, {
    usage: 'resume <schedule>',
    summary: 'let slots come again, from the first after now',
    examples: [['ductor schedule resume nightly', 'slots in between are made up for by a backfill only']],
  }).action((id: string, options: ControlOptions) => controlSchedule(context, 'resume', id, options));
  clientCommand(group, {
    usage: 'trigger <schedule>',
    summary: 'make a slot of this very moment, paused or not',
    examples: [['ductor schedule trigger nightly --overlap allow', 'also while an earlier run is open']],
  })
    .option('--overlap <policy>', `instead of the schedule's: ${OVERLAPS}`)
    .action((id: string, options: TriggerOptions) => triggerSchedule(context, id, options));
  clientCommand(group, {
    usage: 'backfill <schedule>',
    summary: 'start the slots of a range that started nothing so far; no slot starts twice',
    examples: [
      ['ductor schedule backfill nightly --from 2026-03-01T00:00:00Z --to 2026-03-07T00:00:00Z', 'a week of nights'],
    ],
  })
    .requiredOption('--from <instant>', 'first instant')
    .requiredOption('--to <instant>', 'last instant')
    .option('--overlap <policy>', `what becomes of slots that overlap: ${OVERLAPS} (default: allow)`)
    .action((id: string, options: BackfillOptions) => backfillSchedule(context, id, options));
  clientCommand(group, {
    usage: 'delete <schedule>',
    summary: 'delete a schedule and what is known of its slots; its runs go on',
    examples: [['ductor schedule delete nightly', 'by its name or its id']],
  }).action((id: string, options: ControlOptions) => controlSchedule(context, 'delete', id, options));
}

/** Adds the commands. */
export function scheduleCommands(root: Command, context: CliContext): void {
  const group = root.command('schedule').description('start runs by the clock, and see what became of each slot');
  creatingCommand(group, context);
  changingCommand(group, context);
  readingCommands(group, context);
  controllingCommands(group, context);
}
