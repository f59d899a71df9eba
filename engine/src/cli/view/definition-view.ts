/** Definitions for people: the drawing, and what each step does. */
import type { StepDefinition, WorkflowDefinition } from '../../gen/ductor/v1/workflow.js';
import { drawDag } from '../dag/draw.js';
import type { Dag, Mark } from '../dag/graph.js';
import { painter } from '../output/paint.js';
import { cut, oneLine } from '../output/safe-text.js';
import { type Cell, table } from '../output/table.js';
import type { Terminal } from '../output/terminal.js';
import { edgeKind, stepTypeName, typeMark } from './marks.js';

const ARGUMENT_CHARS = 100;
/** When a body runs, by the type of the step that runs it. */
const BODY_WORDS: ReadonlyMap<string, string> = new Map([
  ['SCATTER', 'for each item'],
  ['LOOP', 'again and again'],
  ['SELECT', 'for those who are chosen'],
]);

/** Steps and edges: of a definition or of a body in it. */
type Graph = Pick<WorkflowDefinition, 'steps' | 'edges'>;
/** Sign of a step. */
type MarkOf = (step: StepDefinition) => Mark;

function dagOf({ steps, edges }: Graph, markOf: MarkOf): Dag {
  return {
    nodes: steps.map((step) => ({ ref: step.ref, mark: markOf(step) })),
    edges: edges.map(({ sourceRef, targetRef, type }) => ({ from: sourceRef, to: targetRef, kind: edgeKind(type) })),
  };
}

/**
 * The drawing, line by line; bodies stand below, each under a line that says whose it is.
 *
 * @param markOf default: by the types of the steps
 */
export function definitionDrawing(
  graph: Graph,
  terminal: Pick<Terminal, 'columns' | 'hasColour' | 'isUnicode'>,
  markOf: MarkOf = ({ type }) => typeMark(type),
): string[] {
  const own = drawDag(dagOf(graph, markOf), terminal).map((line) => `  ${line}`.trimEnd());
  const bodies = graph.steps.flatMap((step) => {
    if (step.body === undefined) return [];
    const head = `  body of ${oneLine(step.ref)}, ${BODY_WORDS.get(stepTypeName(step.type)) ?? 'run by it'}:`;
    return ['', painter(terminal)('quiet', head), '', ...definitionDrawing(step.body, terminal, markOf)];
  });
  return [...own, ...bodies];
}

/** Its arguments in one line: a callback's handler stands in front. */
function argumentsText({ args }: StepDefinition): string {
  const entries = Object.entries(args ?? {});
  const said = entries.map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return cut(oneLine(said.join(', ')), ARGUMENT_CHARS);
}

/** Steps a step waits for: "fetch", "score on failure". */
function after(ref: string, { edges }: Graph): string {
  const incoming = edges.filter(({ targetRef }) => targetRef === ref);
  const said = incoming.map((edge) => {
    const kind = edgeKind(edge.type);
    const condition = edge.condition === '' ? '' : ` if ${oneLine(edge.condition)}`;
    const branch = edge.case === '' ? '' : ` case ${oneLine(edge.case)}`;
    return `${oneLine(edge.sourceRef)}${kind === 'success' ? '' : ` on ${kind}`}${branch}${condition}`;
  });
  return said.join(', ');
}

/** Rows of the table; the steps of a body behind the step that runs it, further in. */
function stepRows(graph: Graph, isUnicode: boolean, indent: string): (readonly Cell[])[] {
  return graph.steps.flatMap((step) => {
    const { unicode, ascii, tone } = typeMark(step.type);
    const name = { text: `${indent}${isUnicode ? unicode : ascii} ${step.ref}`, tone };
    const row = [name, stepTypeName(step.type), after(step.ref, graph), argumentsText(step)];
    return [row, ...(step.body === undefined ? [] : stepRows(step.body, isUnicode, `${indent}  `))];
  });
}

/** Drawing and table of a definition. */
export function definitionText(definition: WorkflowDefinition, terminal: Terminal): string {
  const drawing = definitionDrawing(definition, terminal);
  const rows = stepRows(definition, terminal.isUnicode, '');
  return `${drawing.join('\n')}\n\n${table(terminal, ['STEP', 'TYPE', 'AFTER', 'ARGUMENTS'], rows)}`;
}
