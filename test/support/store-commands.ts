/**
 * Commands for the stores, drawn from a seed: what nodes do with runs, mailboxes and shards, right and wrong, so that
 * two implementations can be asked the same and have to answer the same.
 *
 * A book holds what was answered so far, as much as is needed to draw what may be true. Ids of messages are the stores'
 * own: commands name messages by the order in which they came.
 */
import { createHash } from 'node:crypto';
import { SHARD_COUNT, shardOf, uuidV7 } from '../../engine/src/kernel/index.js';
import type { MessageKind, RunKey, TickWrite } from '../../engine/src/workflow/coordinator/ports.js';
import { CLOSED, header, start, tick } from '../../engine/src/workflow/testing/contract/world.js';
import type { Choices } from '../simulation/core/choices.js';

/** A tick that names consumed messages by their order. */
export interface DrawnTick {
  readonly write: TickWrite;
  readonly consumed: readonly number[];
}

/** What is asked of the stores. Nodes are named by their ids. */
export type StoreCommand =
  | { readonly kind: 'register' | 'heartbeat' | 'leave'; readonly node: string }
  | { readonly kind: 'claim'; readonly node: string; readonly shards: readonly number[] }
  | {
      readonly kind: 'takeOver' | 'handOver';
      readonly node: string;
      readonly other: string;
      readonly shards: readonly number[];
    }
  | { readonly kind: 'commit'; readonly node: string; readonly ticks: readonly DrawnTick[] }
  | {
      readonly kind: 'send';
      readonly messages: readonly (RunKey & { readonly of: MessageKind; readonly body: number })[];
    }
  | { readonly kind: 'read' | 'load' | 'listActive' | 'findStarts' | 'payloads' }
  | { readonly kind: 'listDue'; readonly horizonUs: number }
  | { readonly kind: 'advance'; readonly ms: number };

/** A message that waits. */
export interface WaitingMessage extends RunKey {
  /** Place in the order in which messages came. */
  readonly n: number;
}

/** A run as it was drawn. */
export interface BookedRun extends RunKey {
  /** The first run of its chain. */
  readonly chainId: string;
  readonly no: number;
  readonly attributes: Readonly<Record<string, string>>;
  readonly startedAtUs: number;
}

/** Lease of the nodes, ms: long, so that nothing but `advance` ends it. */
export const LONG_LEASE_MS = 600_000;
/** Longer than keys of starts are kept. */
const LONG_MS = 31 * 24 * 3_600_000;
const KEYS = ['k1', 'k2', 'k3'];
const FAMILY = 'lead-intake';
const KINDS = ['cancel', 'signal', 'result', 'pause', 'sub_step'] as const;
const BASE_US = 1_800_000_000_000_000;

function bytesOf(text: string): Uint8Array {
  return Buffer.from(text);
}

/** Draws commands. */
export class CommandBook {
  readonly tenants: readonly string[];
  readonly nodes: string[] = [];
  readonly runs: BookedRun[] = [];
  /** Runs that ended: they are asked about, and get no rows. */
  readonly closed = new Set<string>();
  /** Highest row of each run that was answered as written. */
  readonly rows = new Map<string, number>();
  /** Messages that wait, by their order, with the run they are for. */
  messages: readonly WaitingMessage[] = [];
  /** Texts of large values that were drawn, by run. */
  readonly values: (RunKey & { readonly text: string })[] = [];
  #ids = 0;

  constructor(readonly choices: Choices) {
    this.tenants = [this.#id(), this.#id()];
  }

  /** The keys that starts may have used. */
  get startKeys(): readonly { readonly tenantId: string; readonly familySlug: string; readonly key: string }[] {
    return this.tenants.flatMap((tenantId) => KEYS.map((key) => ({ tenantId, familySlug: FAMILY, key })));
  }

  /** The next command. */
  next(): StoreCommand {
    const { choices } = this;
    if (this.nodes.length === 0 || (this.nodes.length < 3 && choices.chance(0.1))) return this.#register();
    const roll = choices.int(1, 100);
    if (roll <= 42) return this.#commit();
    if (roll <= 58) return this.#send();
    if (roll <= 70) return this.#membership();
    if (roll <= 78) return { kind: 'listDue', horizonUs: BASE_US + choices.int(0, 4) * 1_000_000 };
    if (roll <= 82) return { kind: 'advance', ms: choices.oneOf(1_000, LONG_LEASE_MS + 1_000, LONG_MS) };
    return { kind: choices.oneOf('read', 'load', 'listActive', 'findStarts', 'payloads', 'read') };
  }

  /** Nobody knows of a run whose first row was not written with the end of the one before. */
  drop(runId: string): void {
    this.runs.splice(
      this.runs.findIndex((run) => run.runId === runId),
      1,
    );
  }

  #id(shard?: number): string {
    return uuidV7(BASE_US + (this.#ids += 1) * 1_000, this.choices.random, shard);
  }

  /** The id of a node that no command names. */
  newNode(): string {
    return this.#id();
  }

  #node(): string {
    return this.choices.pick(this.nodes) ?? '';
  }

  #register(): StoreCommand {
    const node = this.#id();
    this.nodes.push(node);
    return { kind: 'register', node };
  }

  #shards(): readonly number[] {
    const { choices } = this;
    const from = choices.int(0, SHARD_COUNT - 1);
    return Array.from({ length: choices.int(1, 60) }, (_, index) => (from + index) % SHARD_COUNT).sort((a, b) => a - b);
  }

  #membership(): StoreCommand {
    const { choices } = this;
    const kind = choices.oneOf('heartbeat', 'claim', 'claim', 'takeOver', 'handOver', 'leave');
    const [node, other, shards] = [this.#node(), this.#node(), this.#shards()];
    if (kind === 'claim') return { kind, node, shards };
    if (kind === 'heartbeat') return { kind, node };
    // To take oneself over makes no sense, and nobody asks for it.
    if (kind !== 'leave') return node === other ? { kind: 'heartbeat', node } : { kind, node, other, shards };
    if (choices.chance(0.7)) return { kind: 'heartbeat', node };
    this.nodes.splice(this.nodes.indexOf(node), 1);
    return { kind: 'leave', node };
  }

  #send(): StoreCommand {
    const { choices } = this;
    const messages = Array.from({ length: choices.oneOf(1, 1, 2, 4) }, () => {
      const known = choices.pick(this.runs) ?? { tenantId: this.tenants[0] ?? '', runId: this.#id() };
      const tenantId = choices.chance(0.05) ? (this.tenants[1] ?? '') : known.tenantId;
      return { tenantId, runId: known.runId, of: choices.pick(KINDS) ?? 'cancel', body: choices.int(0, 255) };
    });
    return { kind: 'send', messages };
  }

  #commit(): StoreCommand {
    const { choices } = this;
    const ticks: DrawnTick[] = [];
    const taken = new Set<string>();
    const fresh = choices.int(this.runs.length === this.closed.size ? 1 : 0, 3);
    for (let count = 0; count < fresh; count += 1) ticks.push(this.#start());
    const open = this.runs.slice(0, this.runs.length - fresh).filter(({ runId }) => !this.closed.has(runId));
    for (let count = choices.int(0, 3); count > 0; count -= 1) {
      const run = choices.pick(open);
      if (run === undefined || taken.has(run.runId)) continue;
      taken.add(run.runId);
      ticks.push(this.#tick(run));
    }
    // Nobody commits nothing.
    return ticks.length === 0 ? { kind: 'read' } : { kind: 'commit', node: this.#node(), ticks };
  }

  #start(): DrawnTick {
    const { choices } = this;
    const tenantId = choices.pick(this.tenants) ?? '';
    const runId = this.#id(choices.int(0, SHARD_COUNT - 1));
    const attributes: Record<string, string> = choices.chance(0.3) ? { team: 'a"b', empty: '' } : {};
    this.runs.push({ tenantId, runId, chainId: runId, no: 1, attributes, startedAtUs: BASE_US });
    const key = choices.chance(0.4) ? (choices.pick(KEYS) ?? null) : null;
    const fingerprint = createHash('sha256').update(`${runId}`).digest();
    const startKey = key === null ? null : { key, fingerprint };
    const standing = choices.oneOf({}, {}, { active: false, status: 'WAITING' as const, wakeAtUs: this.#wakeUs() });
    return {
      write: start(
        { tenantId, runId },
        { ...standing, attributes },
        { startKey, ...this.#values({ tenantId, runId }) },
      ),
      consumed: [],
    };
  }

  #wakeUs(): number {
    return BASE_US + this.choices.int(0, 4) * 1_000_000 + this.#ids;
  }

  #values(run: RunKey): Pick<TickWrite, 'payloads'> {
    if (this.choices.chance(0.8)) return {};
    const text = `value ${this.choices.int(1, 6)}`;
    this.values.push({ ...run, text });
    return { payloads: [{ digest: createHash('sha256').update(text).digest(), data: bytesOf(text) }] };
  }

  /** Some or all of the messages that wait for a run. */
  #consumed({ tenantId, runId }: RunKey): readonly number[] {
    const { choices } = this;
    const own = this.messages.filter((message) => message.runId === runId && message.tenantId === tenantId);
    const share = choices.oneOf(0, 0.6, 1);
    return own.filter(() => choices.chance(share)).map(({ n }) => n);
  }

  /** The next row of a run, or one that is there, or that leaves out what it must not. */
  #tick(run: BookedRun): DrawnTick {
    const { choices } = this;
    const last = this.rows.get(run.runId) ?? 0;
    const consumed = this.#consumed(run);
    if (choices.chance(0.1)) return { write: tick(run, 0, { entries: new Uint8Array(0) }), consumed };
    // A run whose start was not written has no next row; a node never asks for one.
    if (last === 0) return { write: start(run, { attributes: run.attributes }), consumed: [] };
    const seq = last > 1 && choices.chance(0.15) ? last : last + 1;
    const change = choices.oneOf('none', 'none', 'wait', 'run', 'close', 'continue');
    const { tenantId, runId, attributes } = run;
    const chain = run.no === 1 ? null : { chainId: run.chainId, no: run.no };
    const common = { attributes, chain, startedAtUs: run.startedAtUs };
    const more: Partial<TickWrite> = {
      ...this.#values(run),
      ...(choices.chance(0.1) ? { snapshot: bytesOf(`snapshot ${seq}`) } : {}),
    };
    if (change === 'none') return { write: tick(run, seq, more), consumed };
    if (change === 'run') return { write: tick(run, seq, { ...more, header: header(run, common) }), consumed };
    if (change === 'wait') {
      const waiting = { ...common, active: false, status: 'WAITING' as const, wakeAtUs: this.#wakeUs() };
      return { write: tick(run, seq, { ...more, header: header(run, waiting) }), consumed };
    }
    const needsEmptyBox = choices.chance(0.5);
    if (change === 'close') {
      const closed = header(run, { ...CLOSED, ...common });
      return { write: tick(run, seq, { ...more, needsEmptyBox, header: closed }), consumed };
    }
    const next = { tenantId, runId: this.#id(shardOf(runId)) };
    const place = { chainId: run.chainId, no: run.no + 1 };
    const startedAtUs = tick(run, seq).atUs;
    this.runs.push({ ...next, ...place, attributes, startedAtUs });
    const successor = {
      ...{ runId: next.runId, entries: bytesOf('begins'), payloads: [] },
      // It waits to be woken for the first time.
      header: header(next, { attributes, chain: place, startedAtUs, active: false, wakeAtUs: this.#wakeUs() }),
    };
    const ended = header(run, { ...CLOSED, status: 'CONTINUED', ...common });
    return { write: tick(run, seq, { ...more, successor, header: ended }), consumed };
  }
}
