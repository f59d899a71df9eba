/** Checks what computes in the steps of a definition and of the bodies in it, and how they hang together. */
import type { CelCompiler } from '../../../expressions/index.js';
import { compilerWithin, type BodyVariable } from '../computing/cel-schemas.js';
import type { Graph } from '../graph.js';
import { DEFINITION_LIMITS } from '../limits.js';
import { gatheredOf, maxParallelOf, selectParallelOf } from '../step-types/index.js';
import { didYouMean } from '../suggest.js';
import { surelyEnded, type IsSure } from '../surely-ended.js';
import { COMPENSATE } from './check-compensations.js';
import { checkGraph } from './check-edges.js';
import { checkStep, type ReadStep } from './check-step.js';
import type { ReadUpdate } from './check-updates.js';
import { checkExpression, checkTemplate, type Reader } from './expressions.js';
import { childPath } from './problems.js';
import type { ReadEdge } from './read-edge.js';
import type { ReadLevel } from './read-level.js';
import { field } from './shape.js';

/** What a level stands in. */
interface Outside {
  /** Reads as the step that runs the body does. */
  readonly reader: Reader;
  /** Whether a step outside has ended whenever one of the body reads it. */
  readonly isSure: (ref: string) => boolean;
  readonly variables: readonly BodyVariable[];
  /** Items that may be under way at a time in all. */
  readonly parallel: number;
  /** Updates by the refs of the steps that take them. */
  readonly handlers: ReadonlyMap<string, ReadUpdate>;
}

const NOTHING: Omit<Outside, 'handlers'> = {
  reader: { ref: '', refs: new Set(), isBefore: () => false },
  isSure: () => false,
  variables: [],
  parallel: 1,
};

/** All refs of a level and of the bodies in it, but its own. */
function refsWithin(level: ReadLevel): readonly string[] {
  return [...level.bodies.values()].flatMap((body) => [
    ...body.steps.flatMap(({ ref }) => ref ?? []),
    ...refsWithin(body),
  ]);
}

/** One level in the checking. */
class Level {
  readonly own: ReadonlySet<string>;
  readonly graph: Graph;
  readonly isSure: IsSure;
  readonly undoing: ReadonlySet<string>;
  readonly refs: ReadonlySet<string>;
  readonly hidden: ReadonlySet<string>;

  constructor(
    readonly level: ReadLevel,
    readonly outside: Outside,
    readonly cel: CelCompiler,
  ) {
    const { steps, edges, reader } = level;
    this.own = new Set(steps.flatMap(({ ref }) => ref ?? []));
    this.refs = new Set([...this.own, ...outside.reader.refs]);
    this.hidden = new Set([...refsWithin(level), ...(outside.reader.hidden ?? [])]);
    for (const ref of this.refs) if (this.hidden.has(ref)) this.hidden = without(this.hidden, ref);
    this.graph = checkGraph(steps, edges, reader.problems);
    const joins = new Map(steps.map(({ ref, join }) => [ref, join]));
    this.isSure = surelyEnded(this.graph, edges, (ref) => joins.get(ref) ?? { mode: 'all' });
    this.undoing = new Set(edges.flatMap((edge) => (edge.type === COMPENSATE ? [edge.target] : [])));
  }

  /** Reads as a step of this level. When a compensation begins, all steps but other compensations have ended. */
  step(ref: string): Reader {
    const isBefore = (other: string): boolean =>
      this.graph.isBefore(other, ref) || (this.undoing.has(ref) && this.own.has(other) && !this.undoing.has(other));
    return this.reader(ref, isBefore);
  }

  /** Reads once all steps of this level have ended. */
  atTheEnd(): Reader {
    return this.reader('', () => true);
  }

  /**
   * Reads as the condition of an edge: asked once the source has ended, so it may read the source too, and asked again
   * when the target's join is decided later, so it may read only what has ended for good.
   */
  condition({ source, target }: ReadEdge): Reader {
    const isBefore = (ref: string): boolean => ref === source || this.graph.isBefore(ref, source);
    const isSure = (ref: string): boolean => ref === source || this.isSure(ref, source);
    return {
      ...this.reader(target, isBefore),
      isSure: (ref) => (this.own.has(ref) ? isSure(ref) : this.outside.isSure(ref)),
    };
  }

  /** What a body of one of its steps stands in. */
  outsideOf(step: ReadStep): Outside {
    const { outside } = this;
    const reader = this.step(step.ref ?? '');
    const variables = [...new Set([...outside.variables, ...(step.type?.body?.variables ?? [])])].sort();
    const around = new Set([...(reader.around ?? []), ...(step.ref === undefined ? [] : [step.ref])]);
    const isSure = (ref: string): boolean =>
      this.own.has(ref) ? this.isSure(ref, step.ref ?? '') : outside.isSure(ref);
    const parallel = outside.parallel * parallelOf(step);
    return { reader: { ...reader, around }, isSure, variables, parallel, handlers: outside.handlers };
  }

  private reader(ref: string, isBefore: Reader['isBefore']): Reader {
    const { refs, hidden, outside, own } = this;
    const around = outside.reader.around ?? new Set<string>();
    return {
      ref,
      refs,
      hidden,
      around,
      isBefore: (other) => (own.has(other) ? isBefore(other) : outside.reader.isBefore(other)),
    };
  }
}

/** Runs of its body that may be under way at a time. */
function parallelOf({ type, args }: ReadStep): number {
  if (type?.name === 'STEP_TYPE_SELECT') return selectParallelOf(args);
  return type?.name === 'STEP_TYPE_SCATTER' ? maxParallelOf(args) : 1;
}

function without(set: ReadonlySet<string>, one: string): ReadonlySet<string> {
  return new Set([...set].filter((other) => other !== one));
}

function checkParallel({ reader: { problems, path }, args }: ReadStep, parallel: number): void {
  if (parallel <= DEFINITION_LIMITS.parallelInAll) return;
  const most = `with the bodies around it; the limit is ${DEFINITION_LIMITS.parallelInAll}`;
  const problem = `lets ${parallel} items be under way at a time, ${most}`;
  problems.add(childPath(childPath(path, 'args'), 'max_parallel'), maxParallelOf(args), problem, 'Lower max_parallel.');
}

/** A GATHER step collects of a SCATTER of its own level that has ended by then. */
function checkGather(level: Level, step: ReadStep): void {
  if (step.type?.name !== 'STEP_TYPE_GATHER') return;
  const of = gatheredOf(step.args);
  if (of === '') return;
  const { problems, path } = step.reader;
  const at = childPath(childPath(path, 'args'), 'of');
  const scatters = level.level.steps.flatMap(({ ref, type }) =>
    type?.name === 'STEP_TYPE_SCATTER' ? (ref ?? []) : [],
  );
  if (!scatters.includes(of)) {
    problems.add(at, of, 'is no STEP_TYPE_SCATTER beside it', `Name one.${didYouMean(of, scatters)}`);
  } else if (step.ref !== undefined && !level.graph.isBefore(of, step.ref)) {
    problems.add(at, of, 'is not before this step', `Lead an edge from ${of} to ${step.ref}.`);
  }
}

function checkBody(level: Level, step: ReadStep, body: ReadLevel, cel: CelCompiler): void {
  const outside = level.outsideOf(step);
  checkParallel(step, outside.parallel);
  const inner = checkLevel(body, outside, cel);
  const checks = { problems: step.reader.problems, cel: inner.cel, reader: inner.atTheEnd() };
  for (const name of step.type?.body?.conditions ?? []) {
    const text = field(step.args, name);
    const path = childPath(childPath(step.reader.path, 'args'), name);
    if (typeof text === 'string' && text !== '') checkExpression(checks, path, text, 'step', 'bool');
  }
}

/** The answer to an update is read where the step that takes it runs, once that has ended. */
function checkAnswer(level: Level, { reader, output }: ReadUpdate, cel: CelCompiler): void {
  if (output === undefined) return;
  const checks = { problems: reader.problems, cel, reader: level.atTheEnd() };
  checkTemplate(checks, childPath(reader.path, 'output'), output, 'step');
}

function checkLevel(read: ReadLevel, outside: Outside, cel: CelCompiler): Level {
  const { reader, steps, edges, bodies } = read;
  const { problems } = reader;
  const level = new Level(read, outside, compilerWithin(cel, outside.variables));
  for (const step of steps) {
    const update = outside.handlers.get(step.ref ?? '');
    const own =
      update === undefined ? level.cel : compilerWithin(cel, [...outside.variables, 'update' as const].sort());
    checkStep({ problems, cel: own, reader: level.step(step.ref ?? '') }, step);
    if (update !== undefined) checkAnswer(level, update, own);
    checkGather(level, step);
    const body = bodies.get(step);
    if (body !== undefined) checkBody(level, step, body, cel);
  }
  for (const edge of edges) {
    if (edge.condition === undefined) continue;
    const checks = { problems, cel: level.cel, reader: level.condition(edge) };
    checkExpression(checks, childPath(edge.reader.path, 'condition'), edge.condition, 'step', 'bool');
  }
  const output = field(reader.object, 'output');
  if (output !== undefined) {
    const checks = { problems, cel: level.cel, reader: level.atTheEnd() };
    checkTemplate(checks, childPath(reader.path, 'output'), output, 'step');
  }
  return level;
}

/** Says everything that is wrong with how the steps of a definition compute and hang together. */
export function checkLevels(root: ReadLevel, cel: CelCompiler, handlers: ReadonlyMap<string, ReadUpdate>): void {
  checkLevel(root, { ...NOTHING, handlers }, cel);
}
