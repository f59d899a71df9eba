/** Compiles a validated definition into a plan for the machine. */
import type { CelCompiler } from '../../expressions/index.js';
import { DuctorError, impossible } from '../../kernel/index.js';
import type { Compensation, Plan, PlanEdge, PlanStep, Template } from '../machine/plan.js';
import type { Value } from '../machine/value.js';
import { definitionDigest, normaliseDefinition } from './canonical.js';
import { joinPlan } from './checking/check-join.js';
import { collectProblems } from './checking/problems.js';
import { compileCondition, compileTemplate } from './computing/template.js';
import type { Definition, EdgeDefinition, StepDefinition } from './definition.js';
import { buildGraph } from './graph.js';
import { checkInputValue, compileInputSchema } from './input-schema/index.js';
import { durationOrNull } from './retry.js';
import { STEP_TYPES } from './step-types/index.js';

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

function compileStep(step: StepDefinition, place: Place, cel: CelCompiler): PlanStep {
  const type = STEP_TYPES.get(step.type) ?? impossible('plan-step-type', `step ${step.ref} has type ${step.type}`);
  return {
    ref: step.ref,
    title: step.title ?? '',
    ...place,
    join: joinPlan(step.join),
    ...type.compile(step, cel),
  };
}

function parseInput(input: Value): { readonly json: unknown } | { readonly problem: string } {
  if (input.encoding !== 'json' && input.encoding !== '') {
    return { problem: `input: is encoded as ${JSON.stringify(input.encoding)}; input_schema needs json` };
  }
  try {
    return { json: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(input.data)) };
  } catch {
    return { problem: 'input: is not JSON' };
  }
}

function inputCheck(definition: Definition): Plan['checkInput'] {
  if (definition.input_schema === undefined) return () => [];
  const collector = collectProblems(1);
  const check = compileInputSchema(collector, 'input_schema', definition.input_schema);
  if (collector.found().length > 0) impossible('plan-input-schema', 'a validated schema does not compile');
  return (input) => {
    const parsed = parseInput(input);
    return 'problem' in parsed ? [parsed.problem] : checkInputValue(check, parsed.json);
  };
}

/**
 * Compiles a definition that validateDefinition accepted.
 *
 * @param version number of the version; 0 for a plan that is only tried out
 * @throws DuctorError invalid_definition when its steps form a cycle, expression_invalid and expression_too_costly when
 *   its expressions do not compile: an engine with other limits published it
 */
export function compilePlan(definition: Definition, version: number, cel: CelCompiler): Plan {
  const normal = normaliseDefinition(definition);
  const edges = compileEdges(normal.edges ?? [], cel);
  const compensations = compensationsOf(normal.edges ?? [], cel);
  const byRef = new Map(normal.steps.map((step) => [step.ref, step]));
  const graph = buildGraph(
    [...byRef.keys()],
    (normal.edges ?? []).map((edge) => ({ source: edge.source_ref, target: edge.target_ref })),
  );
  if (graph.order.length < normal.steps.length) {
    throw new DuctorError('invalid_definition', `${normal.family_slug} has a cycle or two steps of one ref`);
  }
  const [bySource, byTarget] = [edgesBy(edges, 'sourceRef'), edgesBy(edges, 'targetRef')];
  const steps = graph.order.map((ref) => {
    const step = byRef.get(ref) ?? impossible('plan-step-lost', ref);
    const [incoming, outgoing] = [byTarget.get(ref) ?? [], bySource.get(ref) ?? []];
    return compileStep(step, { incoming, outgoing, compensates: compensations.get(ref) ?? null }, cel);
  });
  return {
    familySlug: normal.family_slug,
    version,
    digest: definitionDigest(normal),
    steps,
    stepByRef: new Map(steps.map((step) => [step.ref, step])),
    timeoutMs: durationOrNull(normal.timeout),
    onFailure: normal.on_failure === 'cancel' ? 'cancel' : 'drain',
    onExhausted: normal.on_exhausted === 'park' ? 'park' : 'fail',
    receives: false,
    output: normal.output === undefined ? null : compileTemplate(cel, normal.output, 'output'),
    checkInput: inputCheck(normal),
  };
}
