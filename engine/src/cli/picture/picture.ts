/** What mermaid and SVG show of a workflow or a run: steps with their bodies, edges, states. Plain data. */
import type { Run } from '../../gen/ductor/v1/run.js';
import type {
  BodyDefinition,
  EdgeDefinition,
  StepDefinition,
  WorkflowDefinition,
} from '../../gen/ductor/v1/workflow.js';
import { ARROWS } from '../dag/edge-kinds.js';
import type { EdgeKind, Mark } from '../dag/graph.js';
import { cut, oneLine } from '../output/safe-text.js';
import { edgeKind, runStateName, stepTypeName, typeMark } from '../view/marks.js';
import { NO_STATE, standings, type StepStanding } from '../view/step-states.js';

const TITLE_CHARS = 48;
const CONDITION_CHARS = 32;

/** A step. */
export interface PictureStep {
  readonly ref: string;
  readonly type: string;
  /** One line, cut; '' when it has none. */
  readonly title: string;
  /** Of its state; of its type where no run is shown. */
  readonly mark: Mark;
  /** undefined: no run is shown, or it has not come there, or has forgotten. */
  readonly state: StepStanding | undefined;
  /** undefined: it runs no body. */
  readonly body: PictureGraph | undefined;
}

/** An edge between two steps of one graph. */
export interface PictureEdge {
  readonly from: string;
  readonly to: string;
  readonly kind: EdgeKind;
  /** What a line says beside its look: "✗ failure", "case big", "if x > 1.0"; '' for a plain one. */
  readonly label: string;
}

/** Steps and the edges between them; edges to nowhere, which a draft may hold, are left out. */
export interface PictureGraph {
  readonly steps: readonly PictureStep[];
  readonly edges: readonly PictureEdge[];
}

/** A whole picture. */
export interface Picture extends PictureGraph {
  /** One line: what is shown. */
  readonly title: string;
}

/** undefined: no run is shown. */
type States = ReadonlyMap<string, StepStanding> | undefined;

function edgeOf({ sourceRef, targetRef, type, condition, case: branch }: EdgeDefinition): PictureEdge {
  const kind = edgeKind(type);
  const said = [
    kind === 'success' ? '' : `${ARROWS[kind].unicode} ${kind}`,
    branch === '' ? '' : `case ${oneLine(branch)}`,
    condition === '' ? '' : `if ${cut(oneLine(condition), CONDITION_CHARS)}`,
  ];
  return { from: sourceRef, to: targetRef, kind, label: said.filter((part) => part !== '').join(' ') };
}

function stepOf(step: StepDefinition, states: States): PictureStep {
  const { ref, type, title, body } = step;
  const state = states?.get(ref);
  return {
    ref,
    type: stepTypeName(type),
    title: cut(oneLine(title), TITLE_CHARS),
    mark: states === undefined ? typeMark(type) : (state?.mark ?? NO_STATE),
    state,
    body: body === undefined || body.steps.length === 0 ? undefined : graphOf(body, states),
  };
}

function graphOf({ steps, edges }: Pick<BodyDefinition, 'steps' | 'edges'>, states: States): PictureGraph {
  const refs = new Set(steps.map(({ ref }) => ref));
  return {
    steps: steps.map((step) => stepOf(step, states)),
    edges: edges.filter(({ sourceRef, targetRef }) => refs.has(sourceRef) && refs.has(targetRef)).map(edgeOf),
  };
}

/** A definition, drawn without states. */
export function definitionPicture(definition: WorkflowDefinition, what: string): Picture {
  const { familySlug, title } = definition;
  const name = oneLine(title === '' ? familySlug : `${familySlug}: ${title}`);
  return { title: `${name} (${what})`, ...graphOf(definition, undefined) };
}

/** A run over the definition of its version. */
export function runPicture(run: Run, definition: WorkflowDefinition): Picture {
  const title = oneLine(`${run.familySlug} version ${run.version}, run ${run.id}: ${runStateName(run.state)}`);
  return { title, ...graphOf(definition, standings(run)) };
}

/** All steps of a graph, those of bodies behind the step that runs them. */
export function allSteps({ steps }: PictureGraph): PictureStep[] {
  return steps.flatMap((step) => [step, ...(step.body === undefined ? [] : allSteps(step.body))]);
}
