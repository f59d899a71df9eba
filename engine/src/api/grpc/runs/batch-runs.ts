/**
 * BatchRuns: one request for many runs, previewed first and carried out page by page.
 *
 * Invariants:
 * 1. Nothing is changed without the confirmation that the preview of the same action and filter answered.
 * 2. Runs that started after the preview are left alone.
 * 3. A page may be sent again, whatever came of it: what was asked of a run before is asked again, or skipped.
 * 4. Of a run that has ended batches start one run anew, however often they find it.
 */
import { canonicalDigest, DuctorError } from '../../../kernel/index.js';
import {
  BatchAction,
  RunFilter,
  RunServiceService as R,
  type BatchFailure,
  type BatchReport,
  type BatchRunsRequest,
  type BatchRunsResponse,
} from '../../../gen/ductor/v1/run.js';
import { actorText, deedOf, type Principal } from '../../../tenancy/index.js';
import type { Unary } from '../call.js';
import { cursorNumber, decodeCursor, encodeCursor } from '../checks/cursor.js';
import { FieldChecks, MAX_REASON_CHARS } from '../checks/field-checks.js';
import type { Coordinator, RunCursor, RunHeader, RunKey, RunQuery } from '../ports.js';
import { listedRunOf } from '../wire/run.js';
import { deadLettersOf, type DeadLetterReads } from './dead-letters.js';
import { tryAgainOnce, type Retries } from './retry-run.js';
import { filtersOf, runCursorOf, runCursorText, type Filters } from './run-filters.js';

/** What it needs. */
export interface BatchParts extends DeadLetterReads {
  readonly coordinator: Pick<Coordinator, 'cancel' | 'terminate' | 'pause' | 'resume' | 'retry'>;
  /** For runs that have ended. */
  readonly retries: Retries;
}

const DEFAULT_PAGE_RUNS = 100;
const MAX_PAGE_RUNS = 200;
/** Runs that a preview counts, and those it shows. */
const COUNTED_RUNS = 1_000;
const SAMPLE_RUNS = 10;
/** Failures that a page tells of. */
const TOLD_FAILURES = 20;
/** Runs that are read and started anew side by side. */
const ANEW_AT_ONCE = 20;
/** What a run answers that needs no request any more. */
const IS_PAST: ReadonlySet<string> = new Set(['run_closed', 'not_found', 'run_not_parked']);

type Ask = (coordinator: BatchParts['coordinator'], key: RunKey, reason: string, by: Principal) => Promise<void>;

const path = R.batchRuns.path;
const ASKS: ReadonlyMap<BatchAction, Ask> = new Map<BatchAction, Ask>([
  [
    BatchAction.BATCH_ACTION_CANCEL,
    (runs, key, reason, by) => runs.cancel(key, reason, actorText(by), deedOf(by, path, reason)),
  ],
  [
    BatchAction.BATCH_ACTION_TERMINATE,
    (runs, key, reason, by) => runs.terminate(key, reason, actorText(by), deedOf(by, path, reason)),
  ],
  [
    BatchAction.BATCH_ACTION_PAUSE,
    (runs, key, reason, by) => runs.pause(key, reason, actorText(by), deedOf(by, path, reason)),
  ],
  [
    BatchAction.BATCH_ACTION_RESUME,
    (runs, key, reason, by) => runs.resume(key, actorText(by), deedOf(by, path, reason)),
  ],
  [BatchAction.BATCH_ACTION_RETRY, (runs, key, reason, by) => runs.retry(key, actorText(by), deedOf(by, path, reason))],
]);

/** What a request finds. */
interface Search {
  readonly filters: Filters;
  /** Only parked runs, and of them those of this group; empty: of any. undefined: parked or not. */
  readonly fingerprint: string | undefined;
  /** Runs that have ended, to be tried again by new ones. */
  readonly isAnew: boolean;
}

const CLOSED: ReadonlySet<string> = new Set([
  'COMPLETED',
  'FAILED',
  'CANCELLED',
  'TIMED_OUT',
  'TERMINATED',
  'CONTINUED',
]);

/** Ends after which a run may be tried again as a whole. */
const ENDED_BADLY: ReadonlySet<string> = new Set(['FAILED', 'CANCELLED', 'TIMED_OUT', 'TERMINATED']);

function searchOf(checks: FieldChecks, action: BatchAction, filter: RunFilter): Search {
  const { fingerprint } = filter;
  const filters = filtersOf(filter, checks, 'filter.');
  const { status } = filters;
  const isRetry = action === BatchAction.BATCH_ACTION_RETRY;
  const isAnew = isRetry && fingerprint === '' && status !== undefined && ENDED_BADLY.has(status);
  const isParked = !isAnew && (fingerprint !== '' || isRetry);
  if (fingerprint !== '' && !/^[0-9a-f]{16}$/.test(fingerprint)) {
    checks.note('filter.fingerprint', fingerprint, 'is no fingerprint', 'send it as ListDeadLetters answered it');
  }
  if (isParked && status !== undefined && status !== 'PARKED') {
    const remedy = isRetry ? `leave it out, or name one of ${[...ENDED_BADLY].join(', ')}` : 'leave it out';
    checks.note('filter.state', status, 'is not that of parked runs', remedy);
  } else if (!isAnew && status !== undefined && CLOSED.has(status)) {
    checks.note('filter.state', status, 'is the state of runs that have ended', 'name a state of open runs');
  }
  if (isAnew) return { filters, fingerprint: undefined, isAnew };
  return {
    filters: { ...filters, isOpen: true, ...(isParked ? { status: 'PARKED' } : {}) },
    fingerprint: isParked ? fingerprint : undefined,
    isAnew,
  };
}

/** The confirmation of a preview: up to which start of runs, and of what. No right: it guards from mistakes. */
function confirmationOf(tenantId: string, action: BatchAction, search: Search, atUs: number): string {
  const { filters, fingerprint = null } = search;
  const asked = { tenantId, action, filters, fingerprint };
  return encodeCursor([atUs, Buffer.from(canonicalDigest(asked)).toString('hex').slice(0, 32)]);
}

/** Up to which start the preview looked. Throws invalid_argument unless it was one of this action and filter. */
function previewedByUs(tenantId: string, { action, confirmation }: BatchRunsRequest, search: Search): number {
  const problem = 'is not the confirmation of this action and filter';
  const remedy = 'Send the request without confirmation, look at its preview, and send it again with what it answered.';
  const details = [{ path: 'confirmation', value: confirmation.slice(0, 200), problem, remedy }];
  const refused = new DuctorError('invalid_argument', `confirmation ${problem}`, { details, remedy });
  try {
    const atUs = cursorNumber(decodeCursor(confirmation, 2)[0], confirmation);
    if (confirmationOf(tenantId, action, search, atUs) === confirmation) return atUs;
  } catch {
    throw refused;
  }
  throw refused;
}

/** A page of what the search finds among runs that had started by then. */
async function find(
  parts: DeadLetterReads,
  { filters, fingerprint, isAnew }: Search,
  tenantId: string,
  byUs: number,
  page: { readonly limit: number; readonly cursor: RunCursor | null },
): Promise<{ readonly headers: readonly RunHeader[]; readonly next: RunCursor | null }> {
  const startedBeforeUs = Math.min(filters.startedBeforeUs ?? byUs, byUs);
  const cursor = page.cursor === null ? {} : { cursor: page.cursor };
  const query: RunQuery = { ...filters, tenantId, startedBeforeUs, limit: page.limit, ...cursor };
  const { headers, next } = await parts.reader.list(query);
  // What steps of others started is started again by them, unless it is asked for by its family.
  if (isAnew && filters.rootId === undefined && filters.parentId === undefined) {
    return { headers: headers.filter(({ parentId }) => parentId === null), next };
  }
  if (fingerprint === undefined || fingerprint === '') return { headers, next };
  const letters = await deadLettersOf(parts, headers);
  const wanted = new Set(letters.filter((letter) => letter.fingerprint === fingerprint).map(({ runId }) => runId));
  return { headers: headers.filter(({ runId }) => wanted.has(runId)), next };
}

const EMPTY: BatchReport = {
  ...{ matched: 0, isMore: false, sample: [], confirmation: '', done: 0, skipped: 0, failures: [], nextCursor: '' },
};

async function preview(parts: BatchParts, search: Search, tenantId: string, action: BatchAction): Promise<BatchReport> {
  const found: RunHeader[] = [];
  let lookedAt = 0;
  let cursor: RunCursor | null = null;
  do {
    const { headers, next } = await find(parts, search, tenantId, Number.MAX_SAFE_INTEGER, {
      limit: MAX_PAGE_RUNS,
      cursor,
    });
    found.push(...headers);
    lookedAt += MAX_PAGE_RUNS;
    cursor = next;
  } while (cursor !== null && lookedAt < COUNTED_RUNS);
  // By the start of the newest run and not by a clock: nodes' estimates of database time differ by their error bounds.
  const byUs = (found[0]?.startedAtUs ?? 0) + 1;
  return {
    ...EMPTY,
    ...{ matched: found.length, isMore: cursor !== null, sample: found.slice(0, SAMPLE_RUNS).map(listedRunOf) },
    confirmation: confirmationOf(tenantId, action, search, byUs),
  };
}

/** Whether a run was asked; false: it needs it no more. */
type AskOne = (key: RunKey) => Promise<boolean>;

async function askOne({ tenantId, runId }: RunHeader, ask: AskOne): Promise<BatchFailure | 'done' | 'skipped'> {
  try {
    return (await ask({ tenantId, runId })) ? 'done' : 'skipped';
  } catch (caught) {
    const { code, message, kind } = DuctorError.from(caught);
    if (kind.retryable) throw caught;
    return IS_PAST.has(code) ? 'skipped' : { runId, code, message };
  }
}

/**
 * Asks runs, so many at once: their messages travel together. Throws what is only so for now: a page can be sent again.
 */
async function askAll(
  headers: readonly RunHeader[],
  ask: AskOne,
  atOnce: number,
): Promise<Pick<BatchReport, 'done' | 'skipped' | 'failures'>> {
  const outcomes: Awaited<ReturnType<typeof askOne>>[] = [];
  for (let at = 0; at < headers.length; at += atOnce) {
    outcomes.push(...(await Promise.all(headers.slice(at, at + atOnce).map((header) => askOne(header, ask)))));
  }
  return {
    done: outcomes.filter((outcome) => outcome === 'done').length,
    skipped: outcomes.filter((outcome) => outcome === 'skipped').length,
    failures: outcomes.filter((outcome) => typeof outcome === 'object').slice(0, TOLD_FAILURES),
  };
}

/** BatchRuns. */
export function batchRuns(parts: BatchParts): Unary<BatchRunsRequest, BatchRunsResponse> {
  return async (request, principal) => {
    const { action, reason, cursor, confirmation } = request;
    const { tenantId } = principal;
    const checks = new FieldChecks();
    const ask = ASKS.get(action);
    if (ask === undefined)
      checks.note('action', String(action), 'is missing, or none', 'say BATCH_ACTION_CANCEL or such');
    checks.text('reason', reason, MAX_REASON_CHARS);
    checks.count('page_size', request.pageSize, 0, MAX_PAGE_RUNS);
    checks.page({ pageSize: 0, cursor, nextCursor: '' });
    const search = searchOf(checks, action, request.filter ?? RunFilter.create());
    if (confirmation === '' && cursor !== '') {
      checks.note('confirmation', '', 'is missing', 'send the confirmation of the preview with each page');
    }
    checks.done();
    if (confirmation === '' || ask === undefined) return { data: await preview(parts, search, tenantId, action) };
    const byUs = previewedByUs(tenantId, request, search);
    const limit = request.pageSize === 0 ? DEFAULT_PAGE_RUNS : request.pageSize;
    const page = { limit, cursor: cursor === '' ? null : runCursorOf(cursor) };
    const { headers, next } = await find(parts, search, tenantId, byUs, page);
    const asked = search.isAnew
      ? await askAll(headers, (key) => tryAgainOnce(parts.retries, key, deedOf(principal, path, reason)), ANEW_AT_ONCE)
      : await askAll(headers, (key) => ask(parts.coordinator, key, reason, principal).then(() => true), MAX_PAGE_RUNS);
    return { data: { ...EMPTY, ...asked, nextCursor: runCursorText(next) } };
  };
}
