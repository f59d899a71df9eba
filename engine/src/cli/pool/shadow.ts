/** `ductor pool shadow`: what the shadows of a pool would have chosen. */
import {
  ListShadowDecisionsResponse,
  ShadowReport,
  type GetShadowReportResponse,
  type ShadowDecision,
  type ShadowSummary,
} from '../../gen/ductor/v1/routing.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { type PageOptions, printPage, wantedPage } from '../list-page.js';
import { messageToJson } from '../output/message-json.js';
import { oneLine } from '../output/safe-text.js';
import { momentText, usOf } from '../output/times.js';
import { type Cell, table } from '../output/table.js';
import { given } from '../workflow/find-definition.js';
import { findPoolId } from './find.js';

const share = (milli: number): string => `${(milli / 10).toFixed(1)} %`;
const index = (milli: number): string => (milli / 1000).toFixed(3);
const money = (micros: bigint): string => (Number(micros) / 1_000_000).toFixed(2);

function costText({ costed, liveCostMicros: live, shadowCostMicros: shadow }: ShadowSummary): string {
  return costed === 0 ? '-' : `${money(live)} > ${money(shadow)}`;
}

function breachText({ withDeadline, liveBreaches, shadowBreaches }: ShadowSummary): string {
  return withDeadline === 0 ? '-' : `${liveBreaches} > ${shadowBreaches} of ${withDeadline}`;
}

function rowOf(summary: ShadowSummary): readonly Cell[] {
  const { strategy, decisions, agreedMilli, liveFairnessMilli, shadowFairnessMilli, wouldFallBack, errors } = summary;
  return [
    ...[strategy, String(decisions), share(agreedMilli)],
    ...[`${index(liveFairnessMilli)} > ${index(shadowFairnessMilli)}`, costText(summary), breachText(summary)],
    { text: `${wouldFallBack}, ${errors}`, tone: errors > 0 ? 'bad' : 'plain' },
    summary.shadowId,
  ];
}

const HEADER = ['SHADOW', 'DECISIONS', 'AGREED', 'FAIRNESS', 'COST', 'BREACHES', 'NOBODY, FAILED', 'ID'];

/** Prints the report of a pool's shadows; "live > shadow" in columns that have both. */
export function showShadows(context: CliContext, pool: string, options: ClientOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const request = { poolId: await findPoolId(engine, pool), since: undefined };
    const { data } = await engine.ask<GetShadowReportResponse>((...rest) =>
      engine.routing.getShadowReport(request, ...rest),
    );
    const { terminal } = context;
    const report = given(data);
    if (options.json === true) terminal.out(`${await messageToJson('ShadowReport', ShadowReport, report)}\n`);
    else if (report.shadows.length === 0)
      terminal.out('No decision was compared with a shadow in the last 24 hours.\n');
    else {
      terminal.out(table(terminal, HEADER, report.shadows.map(rowOf)));
      terminal.err(`(${oneLine(report.caveat)})\n`);
    }
  });
}

/** Options of `ductor pool shadow-decisions`. */
export interface ShadowDecisionsOptions extends PageOptions {
  readonly shadow?: string;
  readonly disagreeing?: boolean;
}

function decisionRow(each: ShadowDecision): readonly Cell[] {
  const { decisionId, decidedAt, strategy, liveRecipientId, shadowRecipientId, agrees, error } = each;
  const text = error === '' ? shadowRecipientId || 'nobody' : error;
  return [
    ...[decisionId, momentText(usOf(decidedAt)), strategy, liveRecipientId || 'nobody'],
    { text, tone: agrees ? 'good' : 'warning' },
  ];
}

/** Lists single comparisons, latest first. */
export function listShadowDecisions(context: CliContext, pool: string, options: ShadowDecisionsOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { shadow: shadowId = '', disagreeing = false } = options;
    const poolId = await findPoolId(engine, pool);
    const request = { poolId, shadowId, disagreeing, pagination: wantedPage(options) };
    const page = await engine.ask<ListShadowDecisionsResponse>((...rest) =>
      engine.routing.listShadowDecisions(request, ...rest),
    );
    const none = 'No decision was compared with a shadow.';
    const look = {
      ...{ name: 'ListShadowDecisionsResponse', encoder: ListShadowDecisionsResponse, none },
      ...{ header: ['DECISION', 'AT', 'SHADOW', 'LIVE', 'WOULD HAVE CHOSEN'], row: decisionRow },
    };
    await printPage(context, options, look, page);
  });
}
