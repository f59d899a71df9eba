/** The first example of the introduction, over gRPC, with the engine killed while the run waits. */
import { beforeAll, describe, expect, it } from 'vitest';
import { RunState, StepState, type HistoryItem } from '../../sdk/src/gen/ductor/v1/run.js';
import { Status } from '../../sdk/src/gen/ductor/v1/workflow.js';
import type { DefinitionJson } from '../../sdk/src/workflow/definition-json.js';
import { Api, itemUs } from '../support/api.js';
import { type Engine, startEngine } from '../support/engine.js';
import { cleanUpProcesses } from '../support/processes.js';
import { dataFolder } from '../support/scratch.js';
import { until } from '../support/wait.js';

const HELLO_WORLD: DefinitionJson = {
  family_slug: 'hello-world',
  title: 'Hello World',
  steps: [
    {
      ref: 'greet',
      type: 'STEP_TYPE_DATAFLOW',
      title: 'Build greeting',
      args: { operation: 'project', project: { message: '"hello"' } },
    },
    { ref: 'pause', type: 'STEP_TYPE_WAIT', title: 'Short delay', args: { duration: '2s' } },
  ],
  edges: [{ source_ref: 'greet', target_ref: 'pause', type: 'EDGE_TYPE_SUCCESS' }],
};

cleanUpProcesses();

let engine: Engine;
let api: Api;
beforeAll(async () => {
  engine = await startEngine({ dataDir: dataFolder('hello') });
  api = new Api(engine);
  return () => api.close();
});

/** The fact of this kind about a step. */
function fact(history: readonly HistoryItem[], kind: string, step: string): HistoryItem {
  const found = history.filter((item) => item.kind === kind && item.step === step);
  expect(found, `${kind} of ${step}`).toHaveLength(1);
  return found[0] ?? expect.unreachable();
}

describe('hello world', () => {
  it('is created as a draft and published as version 1', async () => {
    const created = await api.createWorkflow(HELLO_WORLD);
    expect(created).toMatchObject({ familySlug: 'hello-world', status: Status.STATUS_INACTIVE, currentVersion: 0 });
    const published = await api.publishWorkflow(created.id);
    expect(published).toMatchObject({ status: Status.STATUS_ACTIVE, currentVersion: 1 });
  });

  it('completes after its two seconds though the engine is killed while it waits', async () => {
    const { id } = await api.triggerRun('hello-world');
    const waiting = await until('the run to wait', async () => {
      const run = await api.getRun(id);
      return run.state === RunState.RUN_STATE_WAITING && run;
    });
    const states = Object.fromEntries(waiting.steps.map(({ path, state }) => [path, state]));
    expect(states).toEqual({ greet: StepState.STEP_STATE_COMPLETED, pause: StepState.STEP_STATE_WAITING });

    await engine.kill();
    await engine.start();

    const completed = await until('the run to complete', async () => {
      const run = await api.getRun(id).catch(() => undefined);
      return run !== undefined && run.state !== RunState.RUN_STATE_WAITING && run;
    });
    expect(completed.state).toBe(RunState.RUN_STATE_COMPLETED);
    const history = await api.history(id);
    expect(fact(history, 'step_completed', 'greet').detail).toMatchObject({ output: { message: 'hello' } });
    const waitedUs = itemUs(fact(history, 'step_completed', 'pause')) - itemUs(fact(history, 'step_waiting', 'pause'));
    expect(waitedUs).toBeGreaterThanOrEqual(2_000_000);
    expect(waitedUs).toBeLessThan(10_000_000);
  });
});
