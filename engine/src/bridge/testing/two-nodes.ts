/** Two bridges of one cluster: a lender whose workers reach it alone, and an owner of tasks; no network between. */
import { WorkRequest, WorkResponse } from '../../gen/ductor/v1/bridge.js';
import type { DuctorError } from '../../kernel/index.js';
import type { OpenedStream } from '../bridge.js';
import type { RelayDialer, RelayLineEvents, RelayOpening } from '../relay/ports.js';
import { bridgeHarness, promises, type BridgeHarness } from './harness.js';
import { task } from './tasks.js';

/** Both. */
export interface TwoNodes {
  readonly lender: BridgeHarness;
  readonly owner: BridgeHarness;
  /** Lines that were dialled and have not ended. */
  readonly lines: ReadonlySet<object>;
  /** The owner says what it lacks, the lender hears it; both finish what follows. */
  wish(): Promise<void>;
  /** Lets both finish what they have begun. */
  settle(): Promise<void>;
  /** Moves the time of both. */
  advance(ms: number): Promise<void>;
  /** Breaks all lines: both ends learn of it. */
  cut(): Promise<void>;
}

/** The owner's node, as the lender knows it. */
export const OWNER = { nodeId: 'owner', address: '10.0.0.1:7400' };

interface Line {
  readonly opened: OpenedStream;
  readonly events: RelayLineEvents;
}

/** What is sent arrives as bytes, after what the sender does now. */
function connect(
  { lender, owner }: Pick<TwoNodes, 'lender' | 'owner'>,
  lines: Set<Line>,
  { tenantId, workflows, work }: RelayOpening,
  events: RelayLineEvents,
): ReturnType<RelayDialer['dial']> {
  const over = (): boolean => !lines.delete(line);
  const ended = (error: DuctorError | null): void => lender.clock.defer(() => over() || events.ended(error));
  const principal = { tenantId, principalId: 'lender', name: 'lender', scopes: new Set(['bridge:work'] as const) };
  const able = workflows.map(({ version, ...can }) => ({ ...can, pinnedVersion: version === 0 ? null : version }));
  const stream = {
    write(message: WorkResponse) {
      const copy = WorkResponse.decode(WorkResponse.encode(message).finish());
      lender.clock.defer(() => {
        if (lines.has(line)) events.received(copy);
      });
      return true;
    },
    ...{ pause: () => undefined, resume: () => undefined, end: ended },
  };
  const opened = owner.bridge.open(principal, stream, { outcomes: [], workflows: able }, 'lender');
  const line: Line = { opened, events };
  lines.add(line);
  const send = (message: WorkRequest): void => {
    const copy = WorkRequest.decode(WorkRequest.encode(message).finish());
    owner.clock.defer(() => {
      if (lines.has(line)) opened.received(copy);
    });
  };
  send(work);
  return {
    send,
    finish: () => owner.clock.defer(() => opened.finished()),
    cancel() {
      if (!over()) owner.clock.defer(() => opened.gone());
    },
  };
}

/** Two nodes. */
export function twoNodes(): TwoNodes {
  const [lender, owner] = [bridgeHarness({ nodeId: 'lender' }), bridgeHarness({ nodeId: 'owner' })];
  const lines = new Set<Line>();
  lender.bridge.relayBy({
    dial: (_node, opening, events) => connect({ lender, owner }, lines, opening, events),
    close: () => undefined,
  });
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn += 1) {
      lender.clock.settle();
      owner.clock.settle();
      await promises();
    }
  };
  return {
    ...{ lender, owner, lines, settle },
    async wish() {
      for (const lack of owner.bridge.lacks()) lender.bridge.lend(OWNER, { nodeId: OWNER.nodeId, ...lack });
      await settle();
    },
    async advance(ms) {
      for (const { clock } of [lender, owner]) clock.advance(ms);
      await settle();
    },
    async cut() {
      for (const line of [...lines]) {
        lines.delete(line);
        line.opened.gone();
        line.events.ended(null);
      }
      await settle();
    },
  };
}

/** The kind of the tasks of testing/tasks.ts. */
export const KIND = (({ queue, familySlug, handler, version }) => ({ queue, familySlug, handler, version }))(task());
