/** `ductor schedule pause`, `resume`, `delete`, `trigger` and `backfill`. */
import {
  BackfillReport,
  type BackfillScheduleResponse,
  type Schedule,
  type TriggerScheduleResponse,
} from '../../gen/ductor/v1/schedule.js';
import type { CallRest, EngineClient } from '../connect/engine-client.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { messageToJson } from '../output/message-json.js';
import { given } from '../workflow/find-definition.js';
import { overlapOf } from './create.js';
import { instant } from './instants.js';
import { printSchedule, printSlot } from './show.js';

/** Options of the commands; only some take a reason. */
export interface ControlOptions extends ClientOptions {
  readonly reason?: string;
}

type Ask = (
  engine: EngineClient,
  request: { readonly scheduleId: string; readonly reason: string },
  rest: CallRest<{ data: Schedule | undefined }>,
) => unknown;

/** How each is asked. */
const ASKS = {
  pause: ({ schedules }, request, rest) => schedules.pauseSchedule({ ...request }, ...rest),
  resume: ({ schedules }, { scheduleId }, rest) => schedules.resumeSchedule({ scheduleId }, ...rest),
  delete: ({ schedules }, { scheduleId }, rest) => schedules.deleteSchedule({ scheduleId }, ...rest),
} satisfies Readonly<Record<string, Ask>>;

/** Runs one of the first three. */
export function controlSchedule(
  context: CliContext,
  what: keyof typeof ASKS,
  scheduleId: string,
  options: ControlOptions,
): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const request = { scheduleId, reason: options.reason ?? '' };
    const { data } = await engine.ask<{ data: Schedule | undefined }>((...rest) => ASKS[what](engine, request, rest));
    const schedule = given(data);
    if (what === 'delete' && options.json !== true) {
      context.terminal.out(`deleted ${schedule.slug} (${schedule.id}); its runs go on\n`);
    } else await printSchedule(context, schedule, options);
  });
}

/** Options of `ductor schedule trigger`. */
export interface TriggerOptions extends ClientOptions {
  readonly overlap?: string;
}

/** `ductor schedule trigger`. */
export function triggerSchedule(context: CliContext, scheduleId: string, options: TriggerOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const request = { scheduleId, overlap: overlapOf(options.overlap) };
    const { data } = await engine.ask<TriggerScheduleResponse>((...rest) =>
      engine.schedules.triggerSchedule(request, ...rest),
    );
    await printSlot(context, given(data), options);
    if (options.json !== true) context.terminal.err(`(ductor schedule slots ${scheduleId} says what became of it)\n`);
  });
}

/** Options of `ductor schedule backfill`. */
export interface BackfillOptions extends TriggerOptions {
  readonly from: string;
  readonly to: string;
}

/** `ductor schedule backfill`. */
export function backfillSchedule(context: CliContext, scheduleId: string, options: BackfillOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { terminal } = context;
    const [from, to] = [instant('--from', options.from), instant('--to', options.to)];
    const request = { scheduleId, from, to, overlap: overlapOf(options.overlap) };
    const { data } = await engine.ask<BackfillScheduleResponse>((...rest) =>
      engine.schedules.backfillSchedule(request, ...rest),
    );
    const report = given(data);
    if (options.json === true) terminal.out(`${await messageToJson('BackfillReport', BackfillReport, report)}\n`);
    else terminal.out(`${report.added} slots start, ${report.kept} had started before\n`);
  });
}
