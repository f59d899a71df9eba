/** ExportRun: all there is of a run as it stands, in parts. */
import type { BundlePart, BundleRow, ExportRunRequest, ExportRunResponse } from '../../../gen/ductor/v1/run.js';
import { DuctorError } from '../../../kernel/index.js';
import type { ServerStream } from '../call.js';
import { FieldChecks } from '../checks/field-checks.js';
import {
  historyOf,
  payloadShelf,
  type JournalRow,
  type PlanSource,
  type RunKey,
  type RunReader,
  type RunState,
  type WorkflowCatalog,
} from '../ports.js';
import { pumpAnswers } from '../pump-answers.js';
import { definitionToWire } from '../wire/definition.js';
import { runOf } from '../wire/run.js';
import { timestampOf } from '../wire/timestamp.js';
import { missingRun } from './read-runs.js';
import type { RunLoader } from './run-loader.js';
import { readPayloads, wholeValue } from './whole-values.js';

/** What it needs. */
export interface Exports {
  readonly load: RunLoader;
  readonly reader: Pick<RunReader, 'history' | 'payloads'>;
  readonly plans: PlanSource;
  readonly catalog: Pick<WorkflowCatalog, 'versions'>;
}

const FORMAT = 'ductor.run/1';
/** Rows that are read at a time. */
const PAGE_ROWS = 200;
/** A part with rows has at most so many bytes of entries, or one row. */
const PART_BYTES = 1024 * 1024;

async function headOf({ plans, catalog }: Exports, state: RunState): Promise<BundlePart['part']> {
  const { tenantId, familySlug, version, seq } = state;
  const [published] = await catalog.versions(tenantId, familySlug, version + 1, 1);
  if (published?.version !== version) {
    throw new DuctorError('not_found', `${familySlug} has no version ${version} any more`);
  }
  const plan = plans.peek(tenantId, familySlug, version) ?? (await plans.load(tenantId, familySlug, version));
  return {
    $case: 'head',
    value: {
      format: FORMAT,
      run: { ...runOf(state, plan), input: undefined, output: undefined },
      definition: definitionToWire(published.definition),
      definitionSha256: published.digest,
      rows: seq,
    },
  };
}

/** Rows in parts that are not too large. */
function partsOf(rows: readonly JournalRow[]): readonly BundleRow[][] {
  const parts: BundleRow[][] = [];
  let bytes = PART_BYTES;
  for (const { seq, atUs, entries } of rows) {
    bytes += entries.byteLength;
    if (bytes > PART_BYTES) {
      parts.push([]);
      bytes = entries.byteLength;
    }
    parts.at(-1)?.push({ seq, at: timestampOf(atUs), entries: Buffer.from(entries) });
  }
  return parts;
}

/** The parts of the bundle of a run, in order. Throws what the stream ends with. */
async function* bundleOf(parts: Exports, key: RunKey): AsyncGenerator<BundlePart['part'], void, undefined> {
  const { load, reader } = parts;
  const state = await load(key);
  if (state === undefined) throw missingRun(key.runId);
  yield await headOf(parts, state);
  const shelf = payloadShelf(key.runId);
  let rows = 0;
  while (rows < state.seq) {
    // What is recorded meanwhile is no part of the run as it stood.
    const page = (await reader.history(key, rows, PAGE_ROWS)).filter(({ seq }) => seq <= state.seq);
    if (page.length === 0) throw new DuctorError('not_found', `the journal of run ${key.runId} was removed`);
    historyOf(page, shelf);
    for (const some of partsOf(page)) yield { $case: 'rows', value: { rows: some } };
    rows = page.at(-1)?.seq ?? rows;
  }
  for (const ref of shelf.missing.values()) {
    const found = await readPayloads(reader, key, [ref]);
    const { data } = wholeValue({ data: new Uint8Array(0), encoding: '', absent: ref }, found);
    const digest = Buffer.from(ref.digest, 'hex');
    yield { $case: 'payload', value: { digest, data: Buffer.from(data) } };
  }
  yield { $case: 'end', value: { rows, payloads: shelf.missing.size } };
}

async function* answersOf(parts: Exports, key: RunKey): AsyncGenerator<ExportRunResponse, void, undefined> {
  for await (const part of bundleOf(parts, key)) yield { data: { part } };
}

/** ExportRun. */
export function exportRun(parts: Exports): ServerStream<ExportRunRequest, ExportRunResponse> {
  return ({ runId }, { tenantId }, answers) => {
    const checks = new FieldChecks();
    checks.uuid('run_id', runId);
    checks.done();
    return pumpAnswers(answersOf(parts, { tenantId, runId }), answers);
  };
}
