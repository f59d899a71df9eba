/** GetRun, ListRuns, GetRunHistory. */
import { DuctorError } from '../../../kernel/index.js';
import type {
  GetRunHistoryRequest,
  GetRunHistoryResponse,
  GetRunRequest,
  GetRunResponse,
  HistoryItem as WireHistoryItem,
  ListRunsRequest,
  ListRunsResponse,
  Run,
} from '../../../gen/ductor/v1/run.js';
import type { Unary } from '../call.js';
import { cursorNumber, decodeCursor, encodeCursor } from '../checks/cursor.js';
import { FieldChecks } from '../checks/field-checks.js';
import {
  historyOf,
  payloadShelf,
  type HistoryItem,
  type JournalRow,
  type PlanSource,
  type RunKey,
  type RunReader,
  type RunState,
} from '../ports.js';
import { listedRunOf, runOf } from '../wire/run.js';
import { pageEnd } from '../wire/page.js';
import { timestampOf } from '../wire/timestamp.js';
import { filtersOf, runCursorOf, runCursorText } from './run-filters.js';
import type { RunLoader } from './run-loader.js';
import { readPayloads, type PayloadReader } from './whole-values.js';

/** What they need. */
export interface RunReads {
  readonly load: RunLoader;
  readonly reader: Pick<RunReader, 'list' | 'history' | 'payloads'>;
  readonly plans: PlanSource;
}

/** There is no such run, or it is another tenant's. */
export function missingRun(runId: string): DuctorError {
  return new DuctorError('not_found', `there is no run ${runId}`);
}

function checkRunId(runId: string): void {
  const checks = new FieldChecks();
  checks.uuid('run_id', runId);
  checks.done();
}

/** A run as the contract shows it. Throws not_found. */
export async function showRun({ load, plans }: Pick<RunReads, 'load' | 'plans'>, key: RunKey): Promise<Run> {
  const state: RunState | undefined = await load(key);
  if (state === undefined) throw missingRun(key.runId);
  const { tenantId, familySlug, version } = state;
  return runOf(state, plans.peek(tenantId, familySlug, version) ?? (await plans.load(tenantId, familySlug, version)));
}

/** The last run of a chain by any of its runs; undefined when the tenant has none of this id. */
export async function lastRun(
  { load, reader }: { readonly load: RunLoader; readonly reader: Pick<RunReader, 'lastOfChain'> },
  key: RunKey,
): Promise<RunState | undefined> {
  const state = await load(key);
  if (state === undefined || state.continuedAs === null) return state;
  return lastRun({ load, reader }, await reader.lastOfChain(key));
}

/** GetRun. */
export function getRun(reads: RunReads): Unary<GetRunRequest, GetRunResponse> {
  return async ({ runId }, { tenantId }) => {
    checkRunId(runId);
    return { data: await showRun(reads, { tenantId, runId }) };
  };
}

/** ListRuns. */
export function listRuns({ reader }: RunReads): Unary<ListRunsRequest, ListRunsResponse> {
  return async (request, { tenantId }) => {
    const { pagination } = request;
    const checks = new FieldChecks();
    const { limit, cursor } = checks.page(pagination);
    const filters = filtersOf(request, checks);
    checks.done();
    const page = await reader.list({
      tenantId,
      limit,
      ...filters,
      ...(cursor === '' ? {} : { cursor: runCursorOf(cursor) }),
    });
    return { data: page.headers.map(listedRunOf), pagination: pageEnd(runCursorText(page.next)) };
  };
}

function historyItemOf({ seq, atUs, kind, step, attempt, detail }: HistoryItem): WireHistoryItem {
  return { seq, at: timestampOf(atUs), kind, step, attempt, detail: { ...detail } };
}

/** Values of one page of a history, bytes; a page that would have more ends before, after one item at least. */
const PAGE_BYTES = 2 * 1024 * 1024;

/** How many of these items a page has room for. */
function fitting(items: readonly HistoryItem[]): number {
  let bytes = 0;
  const over = items.findIndex(({ valueBytes }) => (bytes += valueBytes) > PAGE_BYTES);
  return over === -1 ? items.length : Math.max(1, over);
}

/** The items of a page with their large values, and the item that the next page begins with. */
async function historyPage(
  reader: PayloadReader,
  key: RunKey,
  rows: readonly JournalRow[],
  place: number,
  limit: number,
): Promise<{ readonly items: readonly HistoryItem[]; readonly after: HistoryItem | undefined }> {
  const all = historyOf(rows).slice(place);
  const count = fitting(all.slice(0, limit));
  const shown = all.slice(0, count);
  const loaded = await readPayloads(
    reader,
    key,
    shown.flatMap(({ absent }) => absent),
  );
  const items =
    loaded.size === 0 ? shown : historyOf(rows, payloadShelf(key.runId, loaded)).slice(place, place + count);
  return { items, after: all[count] };
}

/** GetRunHistory. A cursor names the next item: its row and its place in the row. */
export function getRunHistory({ reader }: RunReads): Unary<GetRunHistoryRequest, GetRunHistoryResponse> {
  return async ({ runId, pagination }, { tenantId }) => {
    const checks = new FieldChecks();
    checks.uuid('run_id', runId);
    const { limit, cursor } = checks.page(pagination);
    checks.done();
    const [seqPart, placePart] = cursor === '' ? ['1', '0'] : decodeCursor(cursor, 2);
    const seq = cursorNumber(seqPart, cursor);
    const place = cursorNumber(placePart, cursor);
    // Each row has at least one item: one row more than items wanted says whether there are more.
    const rows = await reader.history({ tenantId, runId }, Math.max(0, seq - 1), limit + 1);
    if (rows.length === 0 && cursor === '') throw missingRun(runId);
    const { items, after } = await historyPage(reader, { tenantId, runId }, rows, place, limit);
    const before = after === undefined ? 0 : items.filter((item) => item.seq === after.seq).length;
    const skipped = after?.seq === seq ? place : 0;
    const next = after === undefined ? '' : encodeCursor([after.seq, before + skipped]);
    return { data: items.map(historyItemOf), pagination: pageEnd(next) };
  };
}
