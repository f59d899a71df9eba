/** `ductor route explain`, `decisions`, `export` and `replay`. */
import {
  DecisionReplay,
  ListDecisionsResponse,
  RoutingDecision,
  ExportedDecision,
  type ExplainDecisionResponse,
  type ExportDecisionResponse,
  type ReplayDecisionResponse,
} from '../../gen/ductor/v1/routing.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { type PageOptions, printPage, wantedPage } from '../list-page.js';
import { messageToJson } from '../output/message-json.js';
import { momentText, usOf } from '../output/times.js';
import type { Cell } from '../output/table.js';
import { findPoolId } from '../pool/find.js';
import { given } from '../workflow/find-definition.js';
import { funnelText } from './funnel.js';
import { outcomeTone } from './outcome.js';
import { replayText } from './replay-text.js';

/** Runs `ductor route explain`. */
export function explainDecision(context: CliContext, decisionId: string, options: ClientOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { terminal } = context;
    const { data } = await engine.ask<ExplainDecisionResponse>((...rest) =>
      engine.routing.explainDecision({ decisionId }, ...rest),
    );
    const decision = given(data);
    if (options.json === true) {
      terminal.out(`${await messageToJson('RoutingDecision', RoutingDecision, decision)}\n`);
    } else terminal.out(funnelText(decision, terminal));
  });
}

/** Options of `ductor route decisions`. */
export interface DecisionsOptions extends PageOptions {
  readonly pool?: string;
  readonly outcome?: string;
  readonly routable?: string;
}

function rowOf(decision: RoutingDecision): readonly Cell[] {
  const { id, routableId, outcome, slate, decidedAt } = decision;
  const got = slate.map(({ recipientId }) => recipientId).join(' ');
  return [id, momentText(usOf(decidedAt)), routableId, { text: outcome, tone: outcomeTone(decision) }, got];
}

/** Runs `ductor route decisions`. */
export function listDecisions(context: CliContext, options: DecisionsOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { pool, outcome = '', routable: routableId = '' } = options;
    const poolId = pool === undefined ? '' : await findPoolId(engine, pool);
    const request = { poolId, outcome, routableId, pagination: wantedPage(options) };
    const page = await engine.ask<ListDecisionsResponse>((...rest) => engine.routing.listDecisions(request, ...rest));
    const look = {
      ...{ name: 'ListDecisionsResponse', encoder: ListDecisionsResponse, none: 'There is no such decision.' },
      ...{ header: ['DECISION', 'AT', 'WORK', 'OUTCOME', 'RECIPIENTS'], row: rowOf },
    };
    await printPage(context, options, look, page);
  });
}

/** Runs `ductor route export`: prints each record with the documents that it names, as JSON on a line. */
export function exportDecisions(
  context: CliContext,
  decisionIds: readonly string[],
  options: ClientOptions,
): Promise<void> {
  return withEngine(context, options, async (engine) => {
    for (const decisionId of decisionIds) {
      const { data } = await engine.ask<ExportDecisionResponse>((...rest) =>
        engine.routing.exportDecision({ decisionId }, ...rest),
      );
      context.terminal.out(`${await messageToJson('ExportedDecision', ExportedDecision, given(data))}\n`);
    }
  });
}

/** Runs `ductor route replay`: fails unless it comes to the same record. */
export function replayDecision(context: CliContext, decisionId: string, options: ClientOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { terminal } = context;
    const { data } = await engine.ask<ReplayDecisionResponse>((...rest) =>
      engine.routing.replayDecision({ decisionId }, ...rest),
    );
    const replay = given(data);
    if (!replay.isSame) context.fail();
    if (options.json === true) terminal.out(`${await messageToJson('DecisionReplay', DecisionReplay, replay)}\n`);
    else terminal.out(replayText(replay, context));
  });
}
