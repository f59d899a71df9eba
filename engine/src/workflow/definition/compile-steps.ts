/** Compiles the steps of a definition or of a body. */
import type { CelCompiler } from '../../expressions/index.js';
import { DuctorError, impossible } from '../../kernel/index.js';
import type { Compensation, PlanBody, PlanEdge, PlanStep, Template } from '../machine/plan.js';
import { joinPlan } from './checking/check-join.js';
import { compilerWithin, type BodyVariable } from './computing/cel-schemas.js';
import { compileCondition, compileTemplate } from './computing/template.js';
import type { BodyDefinition, EdgeDefinition, StepDefinition } from './definition.js';
import { buildGraph } from './graph.js';
import { gatheredOf, STEP_TYPES, type CompiledBody, type PlanAction } from './step-types/index.js';

const EDGE_TYPES: Readonly<Record<string, PlanEdge['type']>> = {
  EDGE_TYPE_SUCCESS: 'SUCCESS',
  EDGE_TYPE_FAILURE: 'FAILURE',
  EDGE_TYPE_ALWAYS: 'ALWAYS',
  EDGE_TYPE_TIMEOUT: 'TIMEOUT',
};

const COMPENSATE = 'EDGE_TYPE_COMPENSATE';

function conditionOf({ condition }: EdgeDefinition, index: number, cel: CelCompiler): Template | null {
  return condition === undefined ? null : compileCondition(cel, condition, `edges[${index}].condition`);
}

function compileEdge(edge: EdgeDefinition, index: number, cel: CelCompiler): PlanEdge {
  const type = EDGE_TYPES[edge.type];
  return {
    sourceRef: edge.source_ref,
    targetRef: edge.target_ref,
    type: type ?? impossible('plan-edge-type', `edge ${index} has type ${edge.type}`),
    condition: conditionOf(edge, index, cel),
    case: edge.case ?? null,
  };
}

/** The edges that lead through the steps; a compensation stands beside them. */
function compileEdges(edges: readonly EdgeDefinition[], cel: CelCompiler): readonly PlanEdge[] {
  return edges.flatMap((edge, index) => (edge.type === COMPENSATE ? [] : [compileEdge(edge, index, cel)]));
}

/** Edges by one of their ends, in the order of the definition. */
function edgesBy(edges: readonly PlanEdge[], end: 'sourceRef' | 'targetRef'): ReadonlyMap<string, readonly PlanEdge[]> {
  const lists = new Map<string, PlanEdge[]>();
  for (const edge of edges) {
    const list = lists.get(edge[end]);
    if (list === undefined) lists.set(edge[end], [edge]);
    else list.push(edge);
  }
  return lists;
}

/** What each compensation undoes, by the ref of the compensation. */
function compensationsOf(edges: readonly EdgeDefinition[], cel: CelCompiler): ReadonlyMap<string, Compensation> {
  return new Map(
    edges.flatMap((edge, index): readonly [string, Compensation][] => {
      if (edge.type !== COMPENSATE) return [];
      return [[edge.target_ref, { sourceRef: edge.source_ref, condition: conditionOf(edge, index, cel) }]];
    }),
  );
}

type Place = Pick<PlanStep, 'incoming' | 'outgoing' | 'compensates'>;

/** What the steps of a level are compiled with. */
interface Level {
  readonly cel: CelCompiler;
  /** What expressions may read of the bodies around. */
  readonly variables: readonly BodyVariable[];
  /** Names of updates by the refs of the steps that take them. */
  readonly handlers: ReadonlyMap<string, string>;
}

/** The step once it waits for the update that it takes. */
function taking(action: PlanAction, { input }: StepDefinition, update: string | undefined): PlanAction {
  if (update === undefined) return action;
  if (action.type === 'SIGNAL') return { ...action, signal: update };
  if (action.type !== 'CALLBACK') return impossible('plan-handler', `a step of type ${action.type} takes an update`);
  const isInput = input === undefined || (typeof input === 'string' && input.trim() === 'update');
  return { ...action, takes: { name: update, isInput } };
}

function compileStep(step: StepDefinition, place: Place, { cel, variables, handlers }: Level): PlanStep {
  const type = STEP_TYPES.get(step.type) ?? impossible('plan-step-type', `step ${step.ref} has type ${step.type}`);
  const inside = (): CompiledBody => {
    const within = [...new Set([...variables, ...(type.body?.variables ?? [])])].sort();
    const level = { cel, variables: within, handlers };
    return { body: compileSteps(step.body ?? { steps: [] }, level, step.ref), cel: compilerWithin(cel, within) };
  };
  const update = handlers.get(step.ref);
  const own = update === undefined ? variables : [...variables, 'update' as const].sort();
  return {
    ref: step.ref,
    title: step.title ?? '',
    ...place,
    join: joinPlan(step.join),
    ...taking(type.compile(step, compilerWithin(cel, own), inside), step, update),
  };
}

/** Marks the scatters whose outputs a step beside them collects: only of those they are kept. */
function withKept(steps: readonly PlanStep[], definitions: readonly StepDefinition[]): readonly PlanStep[] {
  const gathered = new Set(
    definitions.flatMap(({ type, args }) => (type === 'STEP_TYPE_GATHER' ? gatheredOf(args) : [])),
  );
  if (gathered.size === 0) return steps;
  return steps.map((step) => (step.type === 'SCATTER' && gathered.has(step.ref) ? { ...step, keeps: true } : step));
}

/**
 * Compiles steps with their edges and their output.
 *
 * @param name of what they belong to, for messages
 * @throws DuctorError invalid_definition when they form a cycle, expression_invalid and expression_too_costly when
 *   their expressions do not compile
 */
export function compileSteps(definition: BodyDefinition, level: Level, name: string): PlanBody {
  const cel = compilerWithin(level.cel, level.variables);
  const declared = definition.edges ?? [];
  const edges = compileEdges(declared, cel);
  const compensations = compensationsOf(declared, cel);
  const byRef = new Map(definition.steps.map((step) => [step.ref, step]));
  const graph = buildGraph(
    [...byRef.keys()],
    declared.map((edge) => ({ source: edge.source_ref, target: edge.target_ref })),
  );
  if (graph.order.length < definition.steps.length) {
    throw new DuctorError('invalid_definition', `${name} has a cycle or two steps of one ref`);
  }
  const [bySource, byTarget] = [edgesBy(edges, 'sourceRef'), edgesBy(edges, 'targetRef')];
  const steps = graph.order.map((ref) => {
    const step = byRef.get(ref) ?? impossible('plan-step-lost', ref);
    const [incoming, outgoing] = [byTarget.get(ref) ?? [], bySource.get(ref) ?? []];
    return compileStep(step, { incoming, outgoing, compensates: compensations.get(ref) ?? null }, level);
  });
  return {
    steps: withKept(steps, definition.steps),
    output: definition.output === undefined ? null : compileTemplate(cel, definition.output, 'output'),
  };
}

/** The steps of a body and of all bodies in it. */
export function allSteps({ steps }: PlanBody): readonly PlanStep[] {
  return steps.flatMap((step) => ('body' in step && step.body ? [step, ...allSteps(step.body)] : [step]));
}
