/** `ductor schedule update`. */
import { ScheduleChange, type UpdateScheduleResponse } from '../../gen/ductor/v1/schedule.js';
import { DuctorError } from '../../kernel/index.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { given } from '../workflow/find-definition.js';
import { catchUpOf, inputPayload, overlapOf, type ContentOptions } from './create.js';
import { instant } from './instants.js';
import { printSchedule } from './show.js';
import { timesOf, type TimesOptions } from './times.js';

/** Options of the command. */
export interface UpdateScheduleOptions extends ClientOptions, TimesOptions, ContentOptions {
  readonly overlap?: string;
  readonly catchUp?: string;
  /** Names of CLEARABLE, by commas. */
  readonly clear?: string;
}

/** What can be cleared, and the field of the contract that it is. */
const CLEARABLE: Readonly<Record<string, string>> = {
  title: 'title',
  version: 'version',
  input: 'input',
  attributes: 'attributes',
  starts: 'starts_at',
  ends: 'ends_at',
  jitter: 'jitter',
};

/** Names for `--clear`. */
export const CLEARABLE_NAMES: readonly string[] = Object.keys(CLEARABLE);

const TIMES = ['cron', 'every', 'at', 'offset', 'on', 'except', 'zone'] as const;

function refuse(message: string, remedy: string): never {
  throw new DuctorError('invalid_argument', message, { remedy });
}

function clearedFields(text = ''): readonly string[] {
  const names = text.split(',').filter((name) => name !== '');
  return names.map((name) => {
    const field = Object.hasOwn(CLEARABLE, name) ? CLEARABLE[name] : undefined;
    return field ?? refuse(`--clear ${name} is nothing that can be cleared`, `Name ${CLEARABLE_NAMES.join(', ')}.`);
  });
}

/** What is to change, and the mask that names it. Throws invalid_argument. */
export function changeOf(options: UpdateScheduleOptions): {
  readonly schedule: ScheduleChange;
  readonly updateMask: string[];
} {
  const { title, version, attribute, jitter, input, starts, ends, overlap, catchUp, window, clear } = options;
  if (window !== undefined && catchUp === undefined) {
    refuse('--window belongs to a policy', 'Say --catch-up beside it.');
  }
  const times = TIMES.some((name) => options[name] !== undefined) ? timesOf(options) : undefined;
  const schedule: Partial<ScheduleChange> = {
    ...(title !== undefined && { title }),
    ...(version !== undefined && { version }),
    ...(attribute !== undefined && { attributes: { ...attribute } }),
    ...(jitter !== undefined && { jitter }),
    ...(input !== undefined && { inputPayload: inputPayload(input) }),
    ...(starts !== undefined && { startsAt: instant('--starts', starts) }),
    ...(ends !== undefined && { endsAt: instant('--ends', ends) }),
    ...(overlap !== undefined && { overlap: overlapOf(overlap) }),
    ...(catchUp !== undefined && { catchUp: catchUpOf(catchUp, window) }),
    ...(times !== undefined && { times }),
  };
  const given = Object.keys(schedule).map((name) =>
    name === 'times' ? (times?.$case ?? name) : name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  );
  const cleared = clearedFields(clear);
  const both = cleared.find((field) => given.includes(field) || given.includes(`${field}_payload`));
  if (both !== undefined) refuse(`${both} is changed and cleared`, 'Leave one of the two out.');
  if (given.length + cleared.length === 0) refuse('nothing is to change', 'Say what, for example --overlap allow.');
  return { schedule: ScheduleChange.fromPartial(schedule), updateMask: [...given, ...cleared] };
}

/** Runs the command. */
export function updateSchedule(context: CliContext, scheduleId: string, options: UpdateScheduleOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const request = { scheduleId, expectedVersion: 0, ...changeOf(options) };
    const { data } = await engine.ask<UpdateScheduleResponse>((...rest) =>
      engine.schedules.updateSchedule(request, ...rest),
    );
    await printSchedule(context, given(data), options);
  });
}
