/** Lays a batch out as the parameters of its statement, and reads the statement's answer back. Pure. */
import { impossible } from '../../kernel/index.js';
import { BatchBlob, booleanArray, type Prepared, integerArray, uuidArray } from '../../store/index.js';
import type { InboxMessage, RunHeader, StartKey, Successor, TickOutcome, TickWrite } from '../coordinator/ports.js';
import { commitStatement, PLAIN_LANE, type LaneNumber } from './commit-statement.js';
import { PART_NAMES, START_KEY_US, type PartName } from './commit-parts.js';
import { statusCode } from './run-status-code.js';
import { shardByte } from './shard-byte.js';
import { INBOX_KIND } from './send-inbox.js';
import { textArray } from './text-array.js';

/** A batch, ready to be sent. */
export interface CommitBatch {
  readonly statement: Prepared;
  /** Everything but the node and its lane session, which come first. */
  readonly values: readonly unknown[];
  /** Reads the answer: one outcome per tick of the batch, in order. */
  outcomes(answer: CommitAnswer): readonly TickOutcome[];
}

/** The row that the statement returns. */
export interface CommitAnswer extends Record<string, unknown> {
  /** 0: the fence held nothing. */
  readonly fence: number;
  /** Journal rows that were appended. */
  readonly appended: number;
  /** Set when some were not: the runs of those that were, as "tenant/run". */
  readonly runs: readonly string[] | null;
  /** Set when some were not and there are start keys: runs with start keys that were there before. */
  readonly present: readonly string[] | null;
  /** Set when there are ticks that need an empty box: ids of the runs whose boxes were not. */
  readonly unread: readonly string[] | null;
}

/** The ticks of a batch by what is to be done for them. */
interface Sorted {
  /** Ticks to append. */
  readonly ticks: readonly TickWrite[];
  /** Consumptions without a tick. */
  readonly drops: readonly TickWrite[];
  /** Ticks whose start key an earlier tick of the same batch claims. */
  readonly doubles: ReadonlySet<TickWrite>;
}

/** A run's name in the answer. */
function nameOf(tick: TickWrite): string {
  return `${tick.tenantId}/${tick.runId}`;
}

/** Sorts the ticks of a batch. Throws internal when a run is in it twice, or starts without a header. */
function sortTicks(batch: readonly TickWrite[]): Sorted {
  const runs = new Set<string>();
  const keys = new Set<string>();
  const ticks: TickWrite[] = [];
  const drops: TickWrite[] = [];
  const doubles = new Set<TickWrite>();
  for (const tick of batch) {
    if (tick.entries.length === 0) {
      drops.push(tick);
      continue;
    }
    const name = nameOf(tick);
    if (runs.has(name)) impossible('run-twice-in-batch', `run ${tick.runId} stands twice in a batch`);
    runs.add(name);
    if (tick.seq === 1 && tick.header === null) impossible('start-without-header', `run ${tick.runId} has no header`);
    if (tick.startKey !== null) {
      const key = JSON.stringify([tick.tenantId, tick.header?.familySlug, tick.startKey.key]);
      if (keys.has(key)) {
        doubles.add(tick);
        continue;
      }
      keys.add(key);
    }
    ticks.push(tick);
  }
  return { ticks, drops, doubles };
}

/** A header under the ids of its tick: those are what the journal row goes by. */
function headerRow({ tenantId, runId }: TickWrite, header: RunHeader): RunHeader {
  return { ...header, tenantId, runId };
}

/** Puts the bytes in the blob; where each begins and how long it is, as array parameters. */
function slices(blob: BatchBlob, items: readonly Uint8Array[]): readonly [starts: string, sizes: string] {
  const found = items.map((item) => blob.append(item));
  return [integerArray(found.map((slice) => slice.offset)), integerArray(found.map((slice) => slice.length))];
}

/** Messages: tenant, run, shard, kind and body of each. */
function messageColumns(
  messages: readonly Omit<InboxMessage, 'id'>[],
  blob: BatchBlob,
): readonly [tenants: string, ...others: string[]] {
  const bodies = slices(
    blob,
    messages.map((m) => m.body),
  );
  return [
    uuidArray(messages.map((m) => m.tenantId)),
    uuidArray(messages.map((m) => m.runId)),
    integerArray(messages.map((m) => shardByte(m.runId))),
    integerArray(messages.map((m) => INBOX_KIND[m.kind])),
    ...bodies,
  ];
}

/** The three lists of the part of successors. */
function successorColumns(
  rows: readonly (Successor & { readonly tick: TickWrite })[],
  blob: BatchBlob,
): readonly string[] {
  const ids = (of: readonly { readonly tick: TickWrite; readonly runId: string }[]): readonly string[] => [
    uuidArray(of.map(({ tick }) => tick.tenantId)),
    uuidArray(of.map(({ tick }) => tick.runId)),
    uuidArray(of.map(({ runId }) => runId)),
  ];
  const attributes = rows.flatMap(({ tick, runId, header }) =>
    Object.entries(header.attributes).map(([name, value]) => ({ tick, runId, name, value })),
  );
  const payloads = rows.flatMap(({ tick, runId, payloads: own }) =>
    own.map((payload) => ({ tick, runId, ...payload })),
  );
  const headers = rows.map(({ header }) => header);
  return [
    ...ids(rows),
    integerArray(rows.map(({ tick }) => tick.atUs)),
    ...slices(
      blob,
      rows.map(({ entries }) => entries),
    ),
    integerArray(headers.map(({ wakeAtUs }) => wakeAtUs)),
    integerArray(headers.map(({ version }) => version)),
    integerArray(headers.map(({ chain }) => chain?.no ?? null)),
    integerArray(headers.map(({ shard }) => shard)),
    integerArray(headers.map(({ status }) => statusCode(status))),
    textArray(headers.map(({ familySlug }) => familySlug)),
    uuidArray(headers.map(({ rootId }) => rootId)),
    uuidArray(headers.map(({ parentId }) => parentId)),
    uuidArray(headers.map(({ chain }) => chain?.chainId ?? null)),
    integerArray(rows.map(({ tick: { retentionMs = null } }) => (retentionMs === null ? null : retentionMs * 1000))),
    ...ids(attributes),
    textArray(attributes.map(({ name }) => name)),
    textArray(attributes.map(({ value }) => value)),
    integerArray(attributes.map(({ tick }) => tick.atUs)),
    ...ids(payloads),
    ...slices(
      blob,
      payloads.map(({ digest }) => digest),
    ),
    ...slices(
      blob,
      payloads.map(({ data }) => data),
    ),
  ];
}

/** How long a start key is held, microseconds; null: until its chain ends. */
function keyLifeUs({ untilEnd, of }: Pick<StartKey, 'untilEnd'> & { readonly of: RunHeader }): number | null {
  if (untilEnd !== true) return START_KEY_US;
  return of.closedAtUs === null ? null : 0;
}

/** Arrays of a part, or undefined when it has no rows. */
type Layout = (sorted: Sorted, blob: BatchBlob) => readonly string[] | undefined;

const layouts: Readonly<Record<PartName, Layout>> = {
  keys({ ticks }, blob) {
    const rows = ticks.flatMap((t) =>
      t.header !== null && t.startKey !== null ? [{ ...t, ...t.startKey, of: t.header }] : [],
    );
    if (rows.length === 0) return undefined;
    return [
      uuidArray(rows.map((t) => t.tenantId)),
      textArray(rows.map((t) => t.of.familySlug)),
      textArray(rows.map((t) => t.key)),
      uuidArray(rows.map((t) => t.runId)),
      integerArray(rows.map((t) => t.of.version)),
      integerArray(rows.map(keyLifeUs)),
      ...slices(
        blob,
        rows.map((t) => t.fingerprint),
      ),
    ];
  },
  boxes({ ticks }) {
    const rows = ticks.filter((t) => t.needsEmptyBox === true);
    if (rows.length === 0) return undefined;
    return [
      uuidArray(rows.map((t) => t.tenantId)),
      uuidArray(rows.map((t) => t.runId)),
      uuidArray(rows.map((t) => t.header?.chain?.chainId ?? t.runId)),
      integerArray(rows.flatMap((t) => t.consumed)),
    ];
  },
  journal({ ticks }, blob) {
    if (ticks.length === 0) return undefined;
    return [
      integerArray(ticks.map((t) => t.atUs)),
      uuidArray(ticks.map((t) => t.tenantId)),
      uuidArray(ticks.map((t) => t.runId)),
      integerArray(ticks.map((t) => t.seq)),
      booleanArray(ticks.map((t) => t.startKey !== null)),
      ...slices(
        blob,
        ticks.map((t) => t.entries),
      ),
    ];
  },
  headers({ ticks }) {
    const rows = ticks.flatMap((t) =>
      t.seq === 1 && t.header !== null ? [{ ...headerRow(t, t.header), retentionMs: t.retentionMs ?? null }] : [],
    );
    if (rows.length === 0) return undefined;
    return [
      integerArray(rows.map((h) => h.startedAtUs)),
      integerArray(rows.map((h) => h.wakeAtUs)),
      integerArray(rows.map((h) => h.closedAtUs)),
      integerArray(rows.map((h) => h.version)),
      integerArray(rows.map((h) => h.shard)),
      integerArray(rows.map((h) => statusCode(h.status))),
      booleanArray(rows.map((h) => h.active)),
      uuidArray(rows.map((h) => h.tenantId)),
      uuidArray(rows.map((h) => h.runId)),
      textArray(rows.map((h) => h.familySlug)),
      uuidArray(rows.map((h) => h.rootId)),
      uuidArray(rows.map((h) => h.parentId)),
      integerArray(rows.map(({ retentionMs }) => (retentionMs === null ? null : retentionMs * 1000))),
    ];
  },
  attributes({ ticks }) {
    const rows = ticks.flatMap((t) =>
      t.seq === 1 && t.header !== null
        ? Object.entries(t.header.attributes).map(([name, value]) => ({
            tenantId: t.tenantId,
            runId: t.runId,
            name,
            value,
            startedAtUs: t.header?.startedAtUs ?? 0,
          }))
        : [],
    );
    if (rows.length === 0) return undefined;
    return [
      uuidArray(rows.map((a) => a.tenantId)),
      uuidArray(rows.map((a) => a.runId)),
      textArray(rows.map((a) => a.name)),
      textArray(rows.map((a) => a.value)),
      integerArray(rows.map((a) => a.startedAtUs)),
    ];
  },
  updates({ ticks }) {
    const rows = ticks.flatMap((t) => (t.seq > 1 && t.header !== null ? [headerRow(t, t.header)] : []));
    if (rows.length === 0) return undefined;
    return [
      integerArray(rows.map((h) => h.wakeAtUs)),
      integerArray(rows.map((h) => h.closedAtUs)),
      integerArray(rows.map((h) => statusCode(h.status))),
      booleanArray(rows.map((h) => h.active)),
      uuidArray(rows.map((h) => h.tenantId)),
      uuidArray(rows.map((h) => h.runId)),
    ];
  },
  snapshots({ ticks }, blob) {
    const rows = ticks.flatMap((t) => (t.snapshot === null ? [] : [{ ...t, data: t.snapshot }]));
    if (rows.length === 0) return undefined;
    return [
      uuidArray(rows.map((t) => t.tenantId)),
      uuidArray(rows.map((t) => t.runId)),
      integerArray(rows.map((t) => t.seq)),
      ...slices(
        blob,
        rows.map((t) => t.data),
      ),
    ];
  },
  payloads({ ticks }, blob) {
    const rows = ticks.flatMap(({ tenantId, runId, payloads = [] }) =>
      payloads.map((payload) => ({ tenantId, runId, ...payload })),
    );
    if (rows.length === 0) return undefined;
    return [
      uuidArray(rows.map((p) => p.tenantId)),
      uuidArray(rows.map((p) => p.runId)),
      ...slices(
        blob,
        rows.map((p) => p.digest),
      ),
      ...slices(
        blob,
        rows.map((p) => p.data),
      ),
    ];
  },
  consumed({ ticks }) {
    const rows = ticks.flatMap((t) => t.consumed.map((id) => ({ tenantId: t.tenantId, runId: t.runId, id })));
    if (rows.length === 0) return undefined;
    return [
      uuidArray(rows.map((c) => c.tenantId)),
      uuidArray(rows.map((c) => c.runId)),
      integerArray(rows.map((c) => shardByte(c.runId))),
      integerArray(rows.map((c) => c.id)),
    ];
  },
  dropped({ drops }) {
    const rows = drops.flatMap((t) => t.consumed.map((id) => ({ shard: shardByte(t.runId), id })));
    if (rows.length === 0) return undefined;
    return [integerArray(rows.map((c) => c.shard)), integerArray(rows.map((c) => c.id))];
  },
  mail({ ticks }, blob) {
    const rows = ticks.flatMap((t) => (t.messages ?? []).map((message) => ({ ...message, from: t.runId })));
    if (rows.length === 0) return undefined;
    const [tenants, ...rest] = messageColumns(rows, blob);
    const families = uuidArray(rows.map(({ familyId = null }) => familyId));
    return [tenants, uuidArray(rows.map((m) => m.from)), families, ...rest];
  },
  freed({ ticks }) {
    const rows = ticks.flatMap((t) =>
      t.header === null || t.frees === undefined ? [] : [{ header: headerRow(t, t.header), key: t.frees }],
    );
    if (rows.length === 0) return undefined;
    const headers = rows.map(({ header }) => header);
    return [
      uuidArray(headers.map((h) => h.tenantId)),
      uuidArray(headers.map((h) => h.runId)),
      uuidArray(headers.map((h) => h.chain?.chainId ?? h.runId)),
      textArray(headers.map((h) => h.familySlug)),
      textArray(rows.map(({ key }) => key)),
    ];
  },
  successors({ ticks }, blob) {
    const rows = ticks.flatMap((t) => (t.successor === undefined ? [] : [{ ...t.successor, tick: t }]));
    return rows.length === 0 ? undefined : successorColumns(rows, blob);
  },
  turns({ drops }, blob) {
    const rows = drops.flatMap((t) => t.messages ?? []);
    if (rows.length === 0) return undefined;
    return messageColumns(rows, blob);
  },
  deeds({ ticks }) {
    const rows = ticks.flatMap((t) => (t.by === null || t.by === undefined ? [] : [{ ...t, deed: t.by }]));
    if (rows.length === 0) return undefined;
    return [
      uuidArray(rows.map((t) => t.tenantId)),
      uuidArray(rows.map((t) => t.runId)),
      uuidArray(rows.map((t) => t.deed.actorId)),
      textArray(rows.map((t) => t.deed.actor)),
      textArray(rows.map((t) => t.deed.method)),
      textArray(rows.map((t) => t.deed.reason)),
    ];
  },
};

/** What became of one tick when not all were appended. */
function outcomeOf(
  tick: TickWrite,
  appended: ReadonlySet<string>,
  present: ReadonlySet<string>,
  unread: ReadonlySet<string>,
): TickOutcome {
  const name = nameOf(tick);
  if (tick.entries.length === 0 || appended.has(name)) return 'written';
  if (unread.has(tick.runId)) return 'unread';
  return tick.startKey === null || present.has(name) ? 'conflict' : 'key_taken';
}

/**
 * Lays out a batch; undefined when there is nothing to send.
 *
 * Throws internal when the batch holds a run twice, a start without a header, or an id that is not a UUID.
 */
export function layOut(batch: readonly TickWrite[], lane: LaneNumber = PLAIN_LANE): CommitBatch | undefined {
  const sorted = sortTicks(batch);
  const blob = new BatchBlob();
  const names: PartName[] = [];
  const arrays: string[] = [];
  for (const name of PART_NAMES) {
    const columns = layouts[name](sorted, blob);
    if (columns === undefined) continue;
    names.push(name);
    arrays.push(...columns);
  }
  if (names.length === 0) return undefined;
  return {
    statement: commitStatement(names, lane),
    values: [blob.toBuffer(), sorted.ticks.length, ...arrays],
    outcomes(answer) {
      if (answer.appended === sorted.ticks.length && sorted.doubles.size === 0) return batch.map(() => 'written');
      const appended = new Set(answer.runs ?? sorted.ticks.map(nameOf));
      const present = new Set(answer.present ?? []);
      const unread = new Set(answer.unread ?? []);
      return batch.map((tick) => (sorted.doubles.has(tick) ? 'key_taken' : outcomeOf(tick, appended, present, unread)));
    },
  };
}
