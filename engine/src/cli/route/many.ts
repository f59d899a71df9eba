/** `ductor route batch` and `ductor route outcome`. */
import {
  RecipientHealth,
  ReportOutcomeRequest,
  RouteBatchRequest,
  RouteBatchResponse,
  type ReportOutcomeResponse,
  type RouteOutcome,
} from '../../gen/ductor/v1/routing.js';
import { bodyOf } from '../body.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { messageFromJson, messageToJson } from '../output/message-json.js';
import { momentText, usOf } from '../output/times.js';
import { type Cell, table } from '../output/table.js';
import { given } from '../workflow/find-definition.js';
import { outcomeTone } from './outcome.js';

function rowOf({ outcome }: RouteOutcome, place: number): readonly Cell[] {
  if (outcome?.$case !== 'decision') {
    const problem = outcome === undefined ? '' : `${outcome.value.code}: ${outcome.value.message}`;
    return [String(place), '', '', { text: problem, tone: 'bad' }];
  }
  const { routableId, slate, id, outcome: text } = outcome.value;
  const got = slate.map(({ recipientId }) => recipientId).join(' ');
  return [
    String(place),
    routableId,
    id,
    { text: got === '' ? text : `${text}: ${got}`, tone: outcomeTone(outcome.value) },
  ];
}

/** Whether somebody has the work, or it waits. */
function isFine({ outcome }: RouteOutcome): boolean {
  return outcome?.$case === 'decision' && ['success', 'waiting'].includes(outcome.value.outcomeClass);
}

/** Runs `ductor route batch`: fails unless somebody has each of them. */
export function sendBatch(context: CliContext, file: string, options: ClientOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { fields, where } = bodyOf(file, {});
    const request = await messageFromJson('RouteBatchRequest', RouteBatchRequest, JSON.stringify(fields), where);
    const answer = await engine.ask<RouteBatchResponse>((...rest) => engine.routing.routeBatch(request, ...rest));
    const { terminal } = context;
    if (!answer.data.every(isFine)) context.fail();
    if (options.json === true) {
      terminal.out(`${await messageToJson('RouteBatchResponse', RouteBatchResponse, answer)}\n`);
    } else terminal.out(table(terminal, ['ITEM', 'WORK', 'DECISION', 'OUTCOME'], answer.data.map(rowOf)));
  });
}

/** Options of `ductor route outcome`. */
export interface OutcomeOptions extends ClientOptions {
  readonly failed?: boolean;
  readonly latency?: string;
  readonly resetAt?: string;
}

function healthText({ recipientId, failuresInARow, ejectedUntil, cooldownUntil, latencyMs }: RecipientHealth): string {
  const facts = [
    `${failuresInARow} ${failuresInARow === 1 ? 'failure' : 'failures'} in a row`,
    ...(latencyMs === undefined ? [] : [`${Math.round(latencyMs)} ms on average`]),
    ...(ejectedUntil === undefined ? [] : [`ejected until ${momentText(usOf(ejectedUntil))}`]),
    ...(cooldownUntil === undefined ? [] : [`rate limited until ${momentText(usOf(cooldownUntil))}`]),
  ];
  return `${recipientId}  ${facts.join(', ')}\n`;
}

/** Runs `ductor route outcome`. */
export function reportOutcome(context: CliContext, assignmentId: string, options: OutcomeOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { failed = false, latency, resetAt } = options;
    const { fields, where } = bodyOf(undefined, {
      ...{ assignment_id: assignmentId, success: !failed, latency, reset_at: resetAt },
    });
    const request = await messageFromJson('ReportOutcomeRequest', ReportOutcomeRequest, JSON.stringify(fields), where);
    const { data } = await engine.ask<ReportOutcomeResponse>((...rest) =>
      engine.routing.reportOutcome(request, ...rest),
    );
    const { terminal } = context;
    const health = given(data);
    if (options.json === true) terminal.out(`${await messageToJson('RecipientHealth', RecipientHealth, health)}\n`);
    else terminal.out(healthText(health));
  });
}
