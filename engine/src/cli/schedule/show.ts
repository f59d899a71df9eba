/** Schedules and slots as the terminal shows them. */
import {
  CatchUpPolicy,
  ListScheduleSlotsResponse,
  OverlapPolicy,
  Schedule,
  ScheduleSlot,
  SlotOutcome,
  SlotSource,
  type GetScheduleResponse,
} from '../../gen/ductor/v1/schedule.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { messageToJson } from '../output/message-json.js';
import type { Tone } from '../output/paint.js';
import { oneLine } from '../output/safe-text.js';
import { type Cell, table } from '../output/table.js';
import { distanceText, momentText, usOf } from '../output/times.js';
import { given } from '../workflow/find-definition.js';

const TONES: Readonly<Partial<Record<SlotOutcome, Tone>>> = {
  [SlotOutcome.SLOT_OUTCOME_STARTED]: 'good',
  [SlotOutcome.SLOT_OUTCOME_FAILED]: 'bad',
  [SlotOutcome.SLOT_OUTCOME_MISSED_CATCH_UP]: 'warning',
  [SlotOutcome.SLOT_OUTCOME_SKIPPED_OVERLAP]: 'warning',
};

const word = (name: string | undefined, prefix: string): string =>
  (name ?? '').replace(prefix, '').toLowerCase().replaceAll('_', ' ');

/** When a schedule happens, in a few words. */
export function timesText({ times }: Schedule): string {
  switch (times?.$case) {
    case 'cron':
      return oneLine(`${times.value.expression} (${times.value.timeZone})`);
    case 'interval':
      return oneLine(`every ${times.value.every}${times.value.offset === '0s' ? '' : ` + ${times.value.offset}`}`);
    case 'calendar': {
      const { dates, daysOfMonth, weekdays, timeZone } = times.value;
      const days = [...dates, ...daysOfMonth.map((day) => (day === -1 ? 'last' : String(day))), ...weekdays];
      return oneLine(`${times.value.times.join(',')} on ${days.join(',')} (${timeZone})`);
    }
    case undefined:
      return '';
  }
}

function nextText({ paused, pauseReason, nextSlots }: Schedule, nowUs: number): readonly string[] {
  if (paused) return [`paused${pauseReason === '' ? '' : `: ${oneLine(pauseReason)}`}`];
  if (nextSlots.length === 0) return ['none any more'];
  return nextSlots.map((slot) => {
    const us = usOf(slot) ?? 0;
    return `${momentText(us)}  ${distanceText(us, nowUs)}`;
  });
}

/** Prints a schedule. */
export async function printSchedule(
  { terminal, clock }: CliContext,
  schedule: Schedule,
  { json }: ClientOptions,
): Promise<void> {
  if (json === true) {
    terminal.out(`${await messageToJson('Schedule', Schedule, schedule)}\n`);
    return;
  }
  const { slug, id, familySlug, version, overlap, catchUp, jitter } = schedule;
  const policy = word(CatchUpPolicy[catchUp?.policy ?? 0], 'CATCH_UP_POLICY_');
  const lines = [
    `${oneLine(slug)}  ${id}`,
    `  starts    ${oneLine(familySlug)} ${version === 0 ? '(its current version)' : `version ${version}`}`,
    `  when      ${timesText(schedule)}${jitter === '0s' ? '' : `, spread over ${jitter}`}`,
    `  overlap   ${word(OverlapPolicy[overlap], 'OVERLAP_POLICY_')}`,
    `  catch-up  ${policy}, within ${catchUp?.window ?? ''}`,
    ...nextText(schedule, clock.nowUs()).map((text, index) => `  ${index === 0 ? 'next    ' : '        '}  ${text}`),
  ];
  terminal.out(`${lines.join('\n')}\n`);
}

/** `ductor schedule show`. */
export function showSchedule(context: CliContext, scheduleId: string, options: ClientOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { data } = await engine.ask<GetScheduleResponse>((...rest) =>
      engine.schedules.getSchedule({ scheduleId }, ...rest),
    );
    await printSchedule(context, given(data), options);
  });
}

function slotRow(slot: ScheduleSlot): readonly Cell[] {
  const outcome = word(SlotOutcome[slot.outcome], 'SLOT_OUTCOME_');
  return [
    momentText(usOf(slot.slotAt)),
    word(SlotSource[slot.source], 'SLOT_SOURCE_'),
    { text: outcome, tone: TONES[slot.outcome] ?? 'plain' },
    slot.runId,
    slot.reason,
  ];
}

/** Prints slots. */
export async function printSlot({ terminal }: CliContext, slot: ScheduleSlot, { json }: ClientOptions): Promise<void> {
  if (json === true) terminal.out(`${await messageToJson('ScheduleSlot', ScheduleSlot, slot)}\n`);
  else terminal.out(table(terminal, ['SLOT', 'BY', 'OUTCOME', 'RUN', 'REASON'], [slotRow(slot)]));
}

/** Options of `ductor schedule slots`. */
export interface SlotsOptions extends ClientOptions {
  readonly limit: number;
  readonly cursor?: string;
}

/** `ductor schedule slots`. */
export function listSlots(context: CliContext, scheduleId: string, options: SlotsOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { terminal } = context;
    const pagination = { pageSize: options.limit, cursor: options.cursor ?? '', nextCursor: '' };
    const page = await engine.ask<ListScheduleSlotsResponse>((...rest) =>
      engine.schedules.listScheduleSlots({ scheduleId, pagination, outcome: 0 }, ...rest),
    );
    if (options.json === true) {
      terminal.out(`${await messageToJson('ListScheduleSlotsResponse', ListScheduleSlotsResponse, page)}\n`);
      return;
    }
    if (page.data.length === 0) terminal.out('No slot has come yet.\n');
    else terminal.out(table(terminal, ['SLOT', 'BY', 'OUTCOME', 'RUN', 'REASON'], page.data.map(slotRow)));
    const next = page.pagination?.nextCursor ?? '';
    if (next !== '') terminal.err(`(more: add --cursor ${next})\n`);
  });
}
