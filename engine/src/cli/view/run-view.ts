/** Runs for people: where one stands, drawn and told. */
import type { Failure } from '../../gen/ductor/v1/common.js';
import type { Run, StepRun } from '../../gen/ductor/v1/run.js';
import type { WorkflowDefinition } from '../../gen/ductor/v1/workflow.js';
import { type Paint, painter } from '../output/paint.js';
import { cut, oneLine } from '../output/safe-text.js';
import { type Cell, table } from '../output/table.js';
import type { Terminal } from '../output/terminal.js';
import { distanceText, momentText, spanText, usOf } from '../output/times.js';
import { definitionDrawing } from './definition-view.js';
import { isClosedState, runStateName, runTone, stepMark, stepStateName } from './marks.js';
import { NO_STATE, standings } from './step-states.js';

const VALUE_CHARS = 400;

/** A value in one line, cut. */
function valueText(value: unknown): string {
  return cut(oneLine(JSON.stringify(value) ?? ''), VALUE_CHARS);
}

/** A failure in one line: "card_declined: no money (step charge, attempt 2)". */
export function failureText({ code, message, step, attempt }: Failure): string {
  const where = step === '' ? '' : ` (step ${step}${attempt === 0 ? '' : `, attempt ${attempt}`})`;
  return oneLine(`${code}: ${message}${where}`);
}

/** What a step waits for, or why it failed. */
export function stepDetail({ waitingFor, error, childRunId }: StepRun): string {
  if (waitingFor !== '') return `waits for ${oneLine(waitingFor)}`;
  if (error !== undefined) return failureText(error);
  return childRunId === '' ? '' : `child run ${childRunId}`;
}

/** Time from start to end, or to now. */
function timeLine(run: Run, nowUs: number): string {
  const [startUs, endUs] = [usOf(run.startedAt), usOf(run.closedAt)];
  if (startUs === null) return '';
  const started = `started ${momentText(startUs)}`;
  return endUs === null
    ? `${started}, ${distanceText(startUs, nowUs)}`
    : `${started}, took ${spanText(endUs - startUs)}`;
}

/** The stack of a failure, and what is behind it, indented by whose it is. */
function behindLines({ stack, causes }: Failure, paint: Paint): string[] {
  const depths: number[] = [];
  const frames = (text: string, indent: string): string[] =>
    text
      .split('\n')
      .filter((line) => /^\s+at /.test(line))
      .map((line) => paint('quiet', `${indent}${oneLine(line.trim())}`));
  const behind = causes.flatMap(({ name, message, stack: at, of, isMember }) => {
    const depth = of === 0 ? 1 : (depths[of - 1] ?? 0) + 1;
    depths.push(depth);
    const indent = '  '.repeat(depth + 5);
    const what = name === '' ? message : `${name}: ${message}`;
    return [`${indent}${isMember ? 'with' : 'caused by'} ${oneLine(what)}`, ...frames(at, `${indent}  `)];
  });
  return [...frames(stack, ' '.repeat(12)), ...behind];
}

function factLines(run: Run, paint: Paint, nowUs: number): string[] {
  const facts: (readonly [string, string])[] = [
    ['run', run.id],
    ['workflow', `${run.familySlug} version ${run.version}`],
    ['state', `${paint(runTone(run.state), runStateName(run.state))}  ${timeLine(run, nowUs)}`],
  ];
  if (run.parentRunId !== '') {
    const root = run.rootRunId === run.parentRunId ? '' : `, family of run ${run.rootRunId}`;
    facts.push(['parent', oneLine(`run ${run.parentRunId}, step ${run.parentStep}${root}`)]);
  }
  if (run.continuesRunId !== '') {
    const first = run.chainId === run.continuesRunId ? '' : `, chain of run ${run.chainId}`;
    facts.push(['continues', oneLine(`run ${run.continuesRunId}${first}`)]);
  }
  if (run.continuedAs !== '') facts.push(['continued', oneLine(`as run ${run.continuedAs}`)]);
  const attributes = Object.entries(run.attributes).map(([name, value]) => `${name}=${value}`);
  if (attributes.length > 0) facts.push(['attributes', oneLine(attributes.join(', '))]);
  if (run.input !== undefined) facts.push(['input', valueText(run.input)]);
  if (run.output !== undefined) facts.push(['output', valueText(run.output)]);
  if (run.error !== undefined) facts.push(['error', paint('bad', failureText(run.error))]);
  const lines = facts.map(([name, text]) => `${paint('quiet', name.padEnd(10))}  ${text}`);
  return run.error === undefined ? lines : [...lines, ...behindLines(run.error, paint)];
}

function stepRows(run: Run, isUnicode: boolean): (readonly Cell[])[] {
  return run.steps.map((step) => {
    const { unicode, ascii, tone } = stepMark(step.state);
    const attempt = step.attempt === 0 ? '' : String(step.attempt);
    const name = { text: `${isUnicode ? unicode : ascii} ${step.path}`, tone };
    return [name, { text: stepStateName(step.state), tone }, attempt, stepDetail(step)];
  });
}

/**
 * The whole picture of a run.
 *
 * @param definition of its version, for the drawing; undefined: no drawing
 */
export function runText(
  run: Run,
  definition: WorkflowDefinition | undefined,
  terminal: Terminal,
  nowUs: number,
): string {
  const paint = painter(terminal);
  const lines = [...factLines(run, paint, nowUs), ''];
  if (definition !== undefined) {
    const states = standings(run);
    const drawing = definitionDrawing(definition, terminal, ({ ref }) => states.get(ref)?.mark ?? NO_STATE);
    lines.push(...drawing, '');
  }
  const steps = table(terminal, ['STEP', 'STATE', 'ATTEMPT', 'DETAIL'], stepRows(run, terminal.isUnicode));
  return `${lines.join('\n')}\n${steps}`;
}

/** Runs of a list, a line each. */
export function runRows(runs: readonly Run[], nowUs: number): (readonly Cell[])[] {
  return runs.map((run) => {
    const [startUs, endUs] = [usOf(run.startedAt), usOf(run.closedAt)];
    const took = startUs === null || endUs === null ? '' : spanText(endUs - startUs);
    const state = { text: runStateName(run.state), tone: runTone(run.state) };
    const age = startUs === null ? '' : distanceText(startUs, nowUs);
    return [run.id, state, `${run.familySlug} ${run.version}`, age, isClosedState(run.state) ? took : ''];
  });
}
