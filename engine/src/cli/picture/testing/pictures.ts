/** Definitions to draw: all fixtures, and one that holds what a picture could trip over. */
import { readdirSync, readFileSync } from 'node:fs';
import { Run, RunState, StepState } from '../../../gen/ductor/v1/run.js';
import {
  EdgeDefinition,
  EdgeType,
  StepDefinition,
  StepType,
  WorkflowDefinition,
} from '../../../gen/ductor/v1/workflow.js';
import { messageFromJson } from '../../output/message-json.js';

const FOLDER = new URL('../../../../../test/fixtures/definitions/', import.meta.url);

/** Every definition in test/fixtures/definitions, by the name of its file. */
export function fixtureDefinitions(): Promise<readonly (readonly [string, WorkflowDefinition])[]> {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith('.json'));
  return Promise.all(
    files.map(async (file) => {
      const text = readFileSync(new URL(file, FOLDER), 'utf8');
      return [file, await messageFromJson('WorkflowDefinition', WorkflowDefinition, text, file)] as const;
    }),
  );
}

/** Every step and edge of a definition, those of bodies as well. */
export function everything({ steps, edges }: Pick<WorkflowDefinition, 'steps' | 'edges'>): {
  readonly steps: readonly StepDefinition[];
  readonly edges: readonly EdgeDefinition[];
} {
  const inner = steps.flatMap(({ body }) => (body === undefined ? [] : [everything(body)]));
  return {
    steps: [...steps, ...inner.flatMap((each) => each.steps)],
    edges: [...edges, ...inner.flatMap((each) => each.edges)],
  };
}

const step = (ref: string, type: StepType, more: Partial<StepDefinition> = {}): StepDefinition =>
  StepDefinition.fromPartial({ ref, type, ...more });
const edge = (
  sourceRef: string,
  targetRef: string,
  type: EdgeType,
  more: Partial<EdgeDefinition> = {},
): EdgeDefinition => EdgeDefinition.fromPartial({ sourceRef, targetRef, type, ...more });

/** All edge kinds, two edges between the same steps, a nested body, and texts that are code in both formats. */
export function nastyDefinition(): WorkflowDefinition {
  return WorkflowDefinition.fromPartial({
    familySlug: 'nasty',
    title: 'a "title": --- & <b>\nnext',
    steps: [
      step('end', StepType.STEP_TYPE_SWITCH, { title: '1. "]) --> x\n#quot; <script>alert(1)</script> `a|b` %%' }),
      step('each', StepType.STEP_TYPE_SCATTER, {
        body: {
          steps: [
            step('call', StepType.STEP_TYPE_CALLBACK, { title: '支払い __bold__ \u0000\ud800' }),
            step('fix', StepType.STEP_TYPE_CALLBACK),
          ],
          edges: [edge('call', 'fix', EdgeType.EDGE_TYPE_FAILURE)],
          output: undefined,
        },
      }),
      step('undo', StepType.STEP_TYPE_CALLBACK),
      step('all', StepType.STEP_TYPE_GATHER),
      step('late', StepType.STEP_TYPE_FAIL),
    ],
    edges: [
      edge('end', 'each', EdgeType.EDGE_TYPE_SUCCESS, { case: 'big' }),
      edge('end', 'each', EdgeType.EDGE_TYPE_SUCCESS, { case: 'small "]' }),
      edge('each', 'all', EdgeType.EDGE_TYPE_ALWAYS, { condition: 'input.a < 1.0 && "|" != ""' }),
      edge('each', 'undo', EdgeType.EDGE_TYPE_COMPENSATE),
      edge('end', 'late', EdgeType.EDGE_TYPE_TIMEOUT),
      edge('all', 'late', EdgeType.EDGE_TYPE_FAILURE),
    ],
  });
}

/** A run of it: the body half way, one item of it failed. */
export function nastyRun(): Run {
  return Run.fromPartial({
    id: 'r1',
    familySlug: 'nasty',
    version: 3,
    state: RunState.RUN_STATE_RUNNING,
    steps: [
      { path: 'end', state: StepState.STEP_STATE_COMPLETED },
      {
        path: 'each',
        state: StepState.STEP_STATE_RUNNING,
        body: { count: 9, begun: 5, completed: 2, failed: 1, stopped: 0 },
      },
      { path: 'each[3]/call', state: StepState.STEP_STATE_RUNNING },
      { path: 'each[4]/call', state: StepState.STEP_STATE_FAILED },
      { path: 'all', state: StepState.STEP_STATE_PENDING },
    ],
  });
}
