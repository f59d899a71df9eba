/** `ductor route explain`, `decisions` and `replay`. */
import {
  DecisionReplay,
  ListDecisionsResponse,
  RoutingDecision,
  ExportedDecision,
  type ExplainDecisionResponse,
  type ExportDecisionResponse,
  type ReplayDecisionResponse,
} from '../../gen/ductor/v1/routing.js';
import { DuctorError, sha256Hex } from '../../kernel/index.js';
import { replayExported } from '../../routing/index.js';
import { bodyOf } from '../body.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { type PageOptions, printPage, wantedPage } from '../list-page.js';
import { messageToJson, parseJson } from '../output/message-json.js';
import { painter } from '../output/paint.js';
import { momentText, usOf } from '../output/times.js';
import type { Cell } from '../output/table.js';
import { findPoolId } from '../pool/find.js';
import { given } from '../workflow/find-definition.js';
import { funnelText } from './funnel.js';
import { outcomeTone } from './outcome.js';

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

function replayText(replay: DecisionReplay, context: CliContext): string {
  const paint = painter(context.terminal);
  const { isSame, recordedOutcome, replayedOutcome, recordedSha256, replayedSha256 } = replay;
  if (isSame) return `${paint('good', 'the same')}, byte for byte: ${recordedOutcome}\n  sha256  ${recordedSha256}\n`;
  return (
    `${paint('bad', 'not the same')}\n` +
    `  recorded  ${recordedOutcome}  sha256 ${recordedSha256}\n` +
    `  replayed  ${replayedOutcome}  sha256 ${replayedSha256}\n`
  );
}

/** Runs `ductor route export`: prints the record with the documents that it names, as JSON. */
export function exportDecision(context: CliContext, decisionId: string, options: ClientOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { data } = await engine.ask<ExportDecisionResponse>((...rest) =>
      engine.routing.exportDecision({ decisionId }, ...rest),
    );
    context.terminal.out(`${await messageToJson('ExportedDecision', ExportedDecision, given(data))}\n`);
  });
}

/** The outcome that a record says. */
function recordedOutcome(record: string, where: string): string {
  const parsed = parseJson(record, where);
  const outcome: unknown = typeof parsed === 'object' && parsed !== null ? Reflect.get(parsed, 'outcome') : undefined;
  return typeof outcome === 'string' ? outcome : '';
}

/** Runs `ductor route replay-file`: replays an export here, without an engine; fails unless it comes to the same. */
export function replayFile(context: CliContext, file: string): void {
  const { fields, where } = bodyOf(file, {});
  const { record, documents } = fields;
  if (typeof record !== 'string' || typeof documents !== 'object' || documents === null) {
    throw new DuctorError('invalid_argument', `${where} holds no exported decision`, {
      remedy: 'Write one with ductor route export.',
    });
  }
  const { isSame, decision, record: again } = replayExported({ record, documents: { ...documents } });
  if (!isSame) context.fail();
  const replay = {
    ...{ decisionId: decision.input.decisionId, isSame, recordedSha256: sha256Hex(record) },
    ...{
      recordedOutcome: recordedOutcome(record, where),
      replayedOutcome: decision.outcome,
      replayedSha256: sha256Hex(again),
    },
  };
  context.terminal.out(replayText(replay, context));
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
