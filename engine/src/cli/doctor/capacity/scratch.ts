/**
 * The doctor's own market in a tenant: a pool with one recipient, and two workflows that select and wait. Pool and
 * recipient go again; workflows cannot, so their names and their content are the same each time.
 */
import { CreatePoolRequest, type CreatePoolResponse, type DeletePoolResponse } from '../../../gen/ductor/v1/pool.js';
import {
  CreateRecipientRequest,
  RecipientInput,
  RecipientState,
  type CreateRecipientResponse,
  type DeleteRecipientResponse,
  type GetRecipientResponse,
  type UpdateRecipientResponse,
} from '../../../gen/ductor/v1/recipient.js';
import {
  ListRunsRequest,
  RunState,
  TriggerRunRequest,
  type CancelRunResponse,
  type GetRunResponse,
  type ListRunsResponse,
  type Run,
  type TerminateRunResponse,
  type TriggerRunResponse,
} from '../../../gen/ductor/v1/run.js';
import { WorkflowDefinition } from '../../../gen/ductor/v1/workflow.js';
import { DuctorError, sleep } from '../../../kernel/index.js';
import type { EngineClient } from '../../connect/engine-client.js';
import { messageFromJson } from '../../output/message-json.js';
import { given } from '../../workflow/find-definition.js';
import { publishDefinition } from '../../workflow/publish.js';

/** Name of the pool. Two doctors at once would disturb each other: the second one is refused. */
export const SCRATCH_POOL = 'ductor-doctor';
const SELECTING = 'ductor-doctor-select';
const WAITING = 'ductor-doctor-wait';
/** Units that its recipient can take. */
export const SCRATCH_LIMIT = 3;
/** Step of a selecting run that waits for its child. */
export const ATTACHED = 'attached';
const WAIT_MS = 30_000;
const LOOK_MS = 50;
const PAGE = 200;

const CLOSED: ReadonlySet<RunState> = new Set([
  ...[RunState.RUN_STATE_COMPLETED, RunState.RUN_STATE_FAILED, RunState.RUN_STATE_CANCELLED],
  ...[RunState.RUN_STATE_TIMED_OUT, RunState.RUN_STATE_TERMINATED, RunState.RUN_STATE_CONTINUED],
]);

const child = (ref: string, detach: boolean): object => ({
  ...{ ref, type: 'STEP_TYPE_SUB_WORKFLOW', input: {} },
  args: detach ? { workflow: WAITING, detach } : { workflow: WAITING },
});
const edge = (source: string, target: string): object => ({
  ...{ source_ref: source, target_ref: target, type: 'EDGE_TYPE_SUCCESS' },
});
const DEFINITIONS: readonly object[] = [
  {
    ...{ family_slug: WAITING, title: 'ductor doctor --capacity: waits', retention: '1d' },
    steps: [{ ref: 'done', type: 'STEP_TYPE_SIGNAL', args: { name: 'done' } }],
  },
  {
    ...{ family_slug: SELECTING, title: 'ductor doctor --capacity: selects', retention: '1d' },
    steps: [
      { ref: 'buyers', type: 'STEP_TYPE_SELECT', args: { pool: SCRATCH_POOL } },
      ...[child('detached', true), child(ATTACHED, false)],
    ],
    edges: [edge('buyers', 'detached'), edge('detached', ATTACHED)],
  },
];

/** Whether a run has ended. */
export function isClosed({ state }: Run): boolean {
  return CLOSED.has(state);
}

async function removeRecipient(engine: EngineClient, recipientId: string): Promise<void> {
  const request = { recipientId, expectedVersion: 0 };
  await engine.ask<DeleteRecipientResponse>((...rest) => engine.recipients.deleteRecipient(request, ...rest));
}

async function removePool(engine: EngineClient, poolId: string): Promise<void> {
  const request = { poolId, expectedVersion: 0 };
  await engine.ask<DeletePoolResponse>((...rest) => engine.pools.deletePool(request, ...rest));
}

/** The market. */
export class Scratch {
  readonly #roots = new Set<string>();

  constructor(
    readonly engine: EngineClient,
    readonly poolId: string,
    readonly recipientId: string,
  ) {}

  /** Looks until something is found, 30 s at most; undefined: it was not. */
  async until<T>(look: () => Promise<T | undefined>): Promise<T | undefined> {
    const { clock } = this.engine;
    const endMs = clock.monotonicMs() + WAIT_MS;
    for (;;) {
      const found = await look();
      if (found !== undefined || clock.monotonicMs() > endMs) return found;
      await sleep(clock, LOOK_MS);
    }
  }

  /** Starts a run that selects the recipient, then a child that goes on by itself, then one that it waits for. */
  async start(): Promise<Run> {
    const request = TriggerRunRequest.fromPartial({ familySlug: SELECTING });
    const { data } = await this.engine.ask<TriggerRunResponse>((...rest) =>
      this.engine.runs.triggerRun(request, ...rest),
    );
    this.#roots.add(given(data).id);
    return given(data);
  }

  async run(runId: string): Promise<Run> {
    const { data } = await this.engine.ask<GetRunResponse>((...rest) => this.engine.runs.getRun({ runId }, ...rest));
    return given(data);
  }

  /** The runs below one. */
  async below(rootRunId: string): Promise<readonly Run[]> {
    const pagination = { pageSize: PAGE, cursor: '', nextCursor: '' };
    const request = ListRunsRequest.fromPartial({ rootRunId, pagination });
    const page = await this.engine.ask<ListRunsResponse>((...rest) => this.engine.runs.listRuns(request, ...rest));
    return page.data;
  }

  async cancel(runId: string): Promise<void> {
    const request = { runId, reason: 'ductor doctor --capacity' };
    await this.engine.ask<CancelRunResponse>((...rest) => this.engine.runs.cancelRun(request, ...rest));
  }

  /** Units of the recipient that are reserved. */
  async held(): Promise<number> {
    const { engine, recipientId } = this;
    const { data } = await engine.ask<GetRecipientResponse>((...rest) =>
      engine.recipients.getRecipient({ recipientId }, ...rest),
    );
    return given(data).capacity?.held ?? 0;
  }

  /** Ends all runs that were started and removes pool and recipient. Throws what the engine says. */
  async remove(): Promise<void> {
    const { engine, poolId, recipientId } = this;
    for (const { id } of await this.#open()) await this.#terminate(id);
    await this.until(async () => {
      const isOver = (await this.#open()).length === 0 && (await this.held()) === 0;
      return isOver ? true : undefined;
    });
    await removeRecipient(engine, recipientId);
    await removePool(engine, poolId);
  }

  /** Runs that were started, and those below them, as far as they have not ended. */
  async #open(): Promise<readonly Run[]> {
    const families = [...this.#roots].map(async (root) => [await this.run(root), ...(await this.below(root))]);
    return (await Promise.all(families)).flat().filter((run) => !isClosed(run));
  }

  async #terminate(runId: string): Promise<void> {
    const request = { runId, reason: 'ductor doctor --capacity has ended' };
    try {
      await this.engine.ask<TerminateRunResponse>((...rest) => this.engine.runs.terminateRun(request, ...rest));
    } catch (caught) {
      // It ended in between.
      if (!isClosed(await this.run(runId))) throw DuctorError.from(caught);
    }
  }
}

async function addRecipient(engine: EngineClient, poolId: string): Promise<string> {
  const { RECIPIENT_STATE_AVAILABLE: state } = RecipientState;
  const request = CreateRecipientRequest.fromPartial({ poolId, name: SCRATCH_POOL, state });
  const { data } = await engine.ask<CreateRecipientResponse>((...rest) =>
    engine.recipients.createRecipient(request, ...rest),
  );
  return given(data).id;
}

/** The limit comes after the publication: pinned it would make a version of each market. */
async function tighten(engine: EngineClient, recipientId: string): Promise<void> {
  const recipient = RecipientInput.fromPartial({ capacity: { maxConcurrent: SCRATCH_LIMIT } });
  const request = { recipientId, recipient, updateMask: ['capacity.max_concurrent'], expectedVersion: 0 };
  await engine.ask<UpdateRecipientResponse>((...rest) => engine.recipients.updateRecipient(request, ...rest));
}

/** Makes the market. Throws pool_exists where there is one, permission_denied, and what else the engine says. */
export async function openScratch(engine: EngineClient): Promise<Scratch> {
  const request = CreatePoolRequest.fromPartial({
    ...{ name: SCRATCH_POOL, strategy: 'least_loaded', description: 'Made by ductor doctor --capacity for a moment' },
  });
  const { data } = await engine.ask<CreatePoolResponse>((...rest) => engine.pools.createPool(request, ...rest));
  const { id: poolId } = given(data);
  let recipientId: string | undefined;
  try {
    recipientId = await addRecipient(engine, poolId);
    for (const definition of DEFINITIONS) {
      const text = JSON.stringify(definition);
      await publishDefinition(engine, await messageFromJson('WorkflowDefinition', WorkflowDefinition, text, 'doctor'));
    }
    await tighten(engine, recipientId);
    return new Scratch(engine, poolId, recipientId);
  } catch (caught) {
    if (recipientId !== undefined) await removeRecipient(engine, recipientId);
    await removePool(engine, poolId);
    throw caught;
  }
}
