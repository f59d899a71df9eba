/** `ductor run batch` and `ductor run dead-letters`. */
import {
  BatchAction,
  BatchReport,
  ListDeadLettersResponse,
  RunFilter,
  type BatchRunsRequest,
  type BatchRunsResponse,
} from '../../gen/ductor/v1/run.js';
import { DuctorError } from '../../kernel/index.js';
import type { EngineClient } from '../connect/engine-client.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { messageToJson } from '../output/message-json.js';
import { table } from '../output/table.js';
import { momentText, usOf } from '../output/times.js';
import { instant } from '../schedule/instants.js';
import { runRows } from '../view/run-view.js';
import { given } from '../workflow/find-definition.js';
import { stateOf } from './list.js';

/** Options of `ductor run batch`. */
export interface BatchOptions extends ClientOptions {
  readonly state?: string;
  readonly workflow?: string;
  readonly attribute?: Readonly<Record<string, string>>;
  readonly after?: string;
  readonly before?: string;
  readonly fingerprint?: string;
  readonly reason?: string;
  /** Carries it out. */
  readonly yes?: boolean;
  /** Both of a batch that was interrupted. */
  readonly confirmation?: string;
  readonly cursor?: string;
}

const PREFIX = 'BATCH_ACTION_';

/** What can be done with many runs, as it is written. */
export const BATCH_ACTION_NAMES: readonly string[] = Object.keys(BatchAction)
  .filter((name) => name.startsWith(PREFIX) && name !== `${PREFIX}UNSPECIFIED`)
  .map((name) => name.slice(PREFIX.length).toLowerCase());

function actionOf(name: string): BatchAction {
  const found = Object.entries(BatchAction).find(([key]) => key === `${PREFIX}${name.toUpperCase()}`)?.[1];
  if (typeof found === 'number' && found !== BatchAction.BATCH_ACTION_UNSPECIFIED) return found;
  throw new DuctorError('invalid_argument', `${name} is nothing that can be done with many runs`, {
    remedy: `Use one of ${BATCH_ACTION_NAMES.join(', ')}.`,
  });
}

function requestOf(action: string, options: BatchOptions): BatchRunsRequest {
  const { state, workflow = '', attribute = {}, after, before, fingerprint = '', reason = '' } = options;
  return {
    ...{ action: actionOf(action), reason, pageSize: 0 },
    ...{ confirmation: options.confirmation ?? '', cursor: options.cursor ?? '' },
    filter: RunFilter.fromPartial({
      ...{ state: stateOf(state), familySlug: workflow, attributes: { ...attribute }, fingerprint },
      ...(after === undefined ? {} : { startedAfter: instant('--after', after) }),
      ...(before === undefined ? {} : { startedBefore: instant('--before', before) }),
    }),
  };
}

async function ask(engine: EngineClient, request: BatchRunsRequest): Promise<BatchReport> {
  const { data } = await engine.ask<BatchRunsResponse>((...rest) => engine.runs.batchRuns(request, ...rest));
  return given(data);
}

async function showPreview(context: CliContext, report: BatchReport, options: BatchOptions): Promise<void> {
  const { terminal, clock } = context;
  if (options.json === true) {
    terminal.out(`${await messageToJson('BatchReport', BatchReport, report)}\n`);
    return;
  }
  const { matched, isMore, sample } = report;
  if (matched > 0) {
    terminal.out(table(terminal, ['RUN', 'STATE', 'WORKFLOW', 'STARTED', 'TOOK'], runRows(sample, clock.nowUs())));
  }
  terminal.out(`${isMore ? 'more than ' : ''}${matched} runs\n`);
  if (options.yes !== true) terminal.err('(nothing was changed: add --yes to carry it out)\n');
}

/** Carries a batch out, a line for each page; says how to go on where it breaks off. */
async function carryOut(
  { terminal }: CliContext,
  engine: EngineClient,
  request: BatchRunsRequest,
  options: BatchOptions,
): Promise<void> {
  let { cursor } = request;
  const total = { done: 0, skipped: 0, failed: 0 };
  try {
    do {
      const report = await ask(engine, { ...request, cursor });
      total.done += report.done;
      total.skipped += report.skipped;
      total.failed += report.failures.length;
      cursor = report.nextCursor;
      if (options.json === true) terminal.out(`${await messageToJson('BatchReport', BatchReport, report)}\n`);
      for (const { runId, code, message } of report.failures) terminal.err(`${runId}  [${code}] ${message}\n`);
      if (cursor !== '') terminal.err(`${total.done} done, ${total.skipped} skipped, ${total.failed} failed so far\n`);
    } while (cursor !== '');
  } catch (error) {
    const from = cursor === '' ? '' : ` --cursor ${cursor}`;
    terminal.err(`(go on with the same command and --confirmation ${request.confirmation}${from})\n`);
    throw error;
  }
  if (options.json !== true) {
    terminal.out(`${total.done} done, ${total.skipped} skipped, ${total.failed} failed\n`);
  }
}

/** Runs `ductor run batch`. */
export function batchRuns(context: CliContext, action: string, options: BatchOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const request = requestOf(action, options);
    if (request.confirmation !== '') return carryOut(context, engine, request, options);
    const report = await ask(engine, request);
    if (options.yes !== true || options.json !== true) await showPreview(context, report, options);
    if (options.yes !== true || report.matched === 0) return undefined;
    return carryOut(context, engine, { ...request, confirmation: report.confirmation }, options);
  });
}

/** Options of `ductor run dead-letters`. */
export interface DeadLettersOptions extends ClientOptions {
  readonly workflow?: string;
  readonly cursor?: string;
}

/** Runs `ductor run dead-letters`. */
export function listDeadLetters(context: CliContext, options: DeadLettersOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { terminal } = context;
    const request = { familySlug: options.workflow ?? '', cursor: options.cursor ?? '' };
    const page = await engine.ask<ListDeadLettersResponse>((...rest) => engine.runs.listDeadLetters(request, ...rest));
    if (options.json === true) {
      terminal.out(`${await messageToJson('ListDeadLettersResponse', ListDeadLettersResponse, page)}\n`);
      return;
    }
    if (page.data.length === 0) terminal.out('No run is parked.\n');
    else {
      const rows = page.data.map((group) => [
        ...[group.fingerprint, String(group.count), group.familySlug, group.step || '-'],
        ...[group.errorCode || group.reason, momentText(usOf(group.lastParkedAt)), group.exampleRunId, group.message],
      ]);
      const heads = ['FINGERPRINT', 'RUNS', 'WORKFLOW', 'STEP', 'CODE', 'LAST', 'EXAMPLE', 'MESSAGE'];
      terminal.out(table(terminal, heads, rows));
    }
    const next = page.pagination?.nextCursor ?? '';
    if (next !== '') terminal.err(`(more: add --cursor ${next})\n`);
  });
}
