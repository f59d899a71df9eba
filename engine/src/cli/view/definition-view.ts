/** Definitions for people: the drawing, and what each step does. */
import type { StepDefinition, WorkflowDefinition } from '../../gen/ductor/v1/workflow.js';
import { drawDag } from '../dag/draw.js';
import type { Dag } from '../dag/graph.js';
import { cut, oneLine } from '../output/safe-text.js';
import { table } from '../output/table.js';
import type { Terminal } from '../output/terminal.js';
import { edgeKind, stepTypeName, typeMark } from './marks.js';

const ARGUMENT_CHARS = 100;

/** The graph of a definition, its steps marked by their types unless a mark is given. */
export function dagOf(
  { steps, edges }: WorkflowDefinition,
  markOf?: (ref: string) => Dag['nodes'][number]['mark'],
): Dag {
  return {
    nodes: steps.map(({ ref, type }) => ({ ref, mark: markOf?.(ref) ?? typeMark(type) })),
    edges: edges.map(({ sourceRef, targetRef, type }) => ({ from: sourceRef, to: targetRef, kind: edgeKind(type) })),
  };
}

/** Its arguments in one line: a callback's handler stands in front. */
function argumentsText({ args }: StepDefinition): string {
  const entries = Object.entries(args ?? {});
  const said = entries.map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return cut(oneLine(said.join(', ')), ARGUMENT_CHARS);
}

/** Steps a step waits for: "fetch", "score on failure". */
function after(ref: string, { edges }: WorkflowDefinition): string {
  const incoming = edges.filter(({ targetRef }) => targetRef === ref);
  const said = incoming.map((edge) => {
    const kind = edgeKind(edge.type);
    const condition = edge.condition === '' ? '' : ` if ${oneLine(edge.condition)}`;
    const branch = edge.case === '' ? '' : ` case ${oneLine(edge.case)}`;
    return `${oneLine(edge.sourceRef)}${kind === 'success' ? '' : ` on ${kind}`}${branch}${condition}`;
  });
  return said.join(', ');
}

/** Drawing and table of a definition. */
export function definitionText(definition: WorkflowDefinition, terminal: Terminal): string {
  const drawing = drawDag(dagOf(definition), terminal).map((line) => `  ${line}`.trimEnd());
  const rows = definition.steps.map((step) => {
    const { unicode, ascii, tone } = typeMark(step.type);
    const sign = terminal.isUnicode ? unicode : ascii;
    return [
      { text: `${sign} ${step.ref}`, tone },
      stepTypeName(step.type),
      after(step.ref, definition),
      argumentsText(step),
    ];
  });
  return `${drawing.join('\n')}\n\n${table(terminal, ['STEP', 'TYPE', 'AFTER', 'ARGUMENTS'], rows)}`;
}
