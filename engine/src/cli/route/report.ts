/** `ductor route outcome` and `ductor route release-seats`. */
import {
  RecipientHealth,
  ReportOutcomeRequest,
  ReleaseSeatsResponse,
  type ReportOutcomeResponse,
} from '../../gen/ductor/v1/routing.js';
import { bodyOf } from '../body.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { messageFromJson, messageToJson } from '../output/message-json.js';
import { momentText, usOf } from '../output/times.js';
import { findPoolId } from '../pool/find.js';
import { given } from '../workflow/find-definition.js';

/** Options of `ductor route outcome`. */
export interface OutcomeOptions extends ClientOptions {
  readonly failed?: boolean;
  readonly latency?: string;
  readonly resetAt?: string;
  readonly pool?: string;
  readonly recipient?: string;
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
export function reportOutcome(
  context: CliContext,
  assignmentId: string | undefined,
  options: OutcomeOptions,
): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { failed = false, latency, resetAt, pool, recipient } = options;
    const { fields, where } = bodyOf(undefined, {
      ...{ assignment_id: assignmentId, success: !failed, latency, reset_at: resetAt },
      ...{ recipient_id: recipient, pool_id: pool === undefined ? undefined : await findPoolId(engine, pool) },
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

/** Runs `ductor route release-seats`. */
export function releaseSeats(context: CliContext, owner: string, options: ClientOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const answer = await engine.ask<ReleaseSeatsResponse>((...rest) => engine.routing.releaseSeats({ owner }, ...rest));
    const { terminal } = context;
    const { released } = given(answer.data);
    if (options.json === true) {
      terminal.out(`${await messageToJson('ReleaseSeatsResponse', ReleaseSeatsResponse, answer)}\n`);
    } else terminal.out(`${released} ${released === 1 ? 'binding' : 'bindings'} of ${owner} ended\n`);
  });
}
