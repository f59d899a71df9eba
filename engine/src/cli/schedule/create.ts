/** `ductor schedule create`. */
import {
  CatchUpPolicy,
  CreateScheduleRequest,
  OverlapPolicy,
  type CreateScheduleResponse,
} from '../../gen/ductor/v1/schedule.js';
import { DuctorError } from '../../kernel/index.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { parseJson } from '../output/message-json.js';
import { readArgument } from '../read-text.js';
import { given } from '../workflow/find-definition.js';
import { instant } from './instants.js';
import { printSchedule } from './show.js';
import { timesOf, type TimesOptions } from './times.js';

/** Options that a schedule is made with, and changed by. */
export interface ContentOptions {
  readonly window?: string;
  readonly jitter?: string;
  readonly input?: string;
  readonly attribute?: Readonly<Record<string, string>>;
  readonly version?: number;
  readonly title?: string;
  readonly starts?: string;
  readonly ends?: string;
}

/** Options of the command. */
export interface CreateScheduleOptions extends ClientOptions, TimesOptions, ContentOptions {
  readonly workflow: string;
  readonly overlap: string;
  readonly catchUp: string;
}

/** The names of an enum, as options write them: OVERLAP_POLICY_BUFFER_ONE is buffer-one. */
export function optionNames(names: Readonly<Record<string, string | number>>, prefix: string): readonly string[] {
  return Object.keys(names)
    .filter((name) => name.startsWith(prefix) && name !== `${prefix}UNSPECIFIED`)
    .map((name) => name.slice(prefix.length).toLowerCase().replaceAll('_', '-'));
}

/** A policy by its option. Throws invalid_argument naming all. */
function policyOf(
  names: Readonly<Record<string, string | number>>,
  prefix: string,
  option: string,
  text: string,
): number {
  const found = names[`${prefix}${text.toUpperCase().replaceAll('-', '_')}`];
  if (typeof found === 'number' && found > 0) return found;
  const remedy = `Use one of ${optionNames(names, prefix).join(', ')}.`;
  throw new DuctorError('invalid_argument', `--${option} ${text} is no policy`, { remedy });
}

/** An overlap policy by its option; undefined: the engine's default. */
export function overlapOf(text: string | undefined): OverlapPolicy {
  return text === undefined ? 0 : policyOf({ ...OverlapPolicy }, 'OVERLAP_POLICY_', 'overlap', text);
}

/** What to do with missed slots. Throws invalid_argument. @param window '': the engine's default */
export function catchUpOf(policy: string, window = ''): NonNullable<CreateScheduleRequest['catchUp']> {
  return { policy: policyOf({ ...CatchUpPolicy }, 'CATCH_UP_POLICY_', 'catch-up', policy), window };
}

/** An input by its option. Throws invalid_argument unless it is JSON. */
export function inputPayload(input: string): NonNullable<CreateScheduleRequest['inputPayload']> {
  const { text, where } = readArgument(input);
  parseJson(text, where);
  return { data: Buffer.from(text, 'utf8'), encoding: '' };
}

function requestOf(slug: string, options: CreateScheduleOptions): CreateScheduleRequest {
  const { workflow: familySlug, version = 0, title = '', attribute = {}, jitter = '' } = options;
  const { input, starts, ends } = options;
  return CreateScheduleRequest.fromPartial({
    ...{ slug, familySlug, version, title, attributes: { ...attribute }, jitter },
    times: timesOf(options),
    overlap: overlapOf(options.overlap),
    catchUp: catchUpOf(options.catchUp, options.window),
    ...(input === undefined ? {} : { inputPayload: inputPayload(input) }),
    ...(starts === undefined ? {} : { startsAt: instant('--starts', starts) }),
    ...(ends === undefined ? {} : { endsAt: instant('--ends', ends) }),
  });
}

/** Runs the command. */
export function createSchedule(context: CliContext, slug: string, options: CreateScheduleOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const request = requestOf(slug, options);
    const { data } = await engine.ask<CreateScheduleResponse>((...rest) =>
      engine.schedules.createSchedule(request, ...rest),
    );
    await printSchedule(context, given(data), options);
  });
}
