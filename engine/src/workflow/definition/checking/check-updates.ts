/** Checks what callers may ask of a run: updates, each with the step that takes it, and queries. */
import type { CelCompiler } from '../../../expressions/index.js';
import { compilerWithin } from '../computing/cel-schemas.js';
import type { Json } from '../definition.js';
import { compileInputSchema } from '../input-schema/index.js';
import { DEFINITION_LIMITS } from '../limits.js';
import { TASK_NAME } from '../names.js';
import { signalName } from '../step-types/signal-arg.js';
import { didYouMean } from '../suggest.js';
import { COMPENSATE } from './check-compensations.js';
import type { ReadStep } from './check-step.js';
import { checkExpression, type Reader } from './expressions.js';
import { childPath } from './problems.js';
import type { ReadLevel } from './read-level.js';
import {
  field,
  optionalList,
  optionalText,
  readObject,
  refuseUnknown,
  requireText,
  type ObjectReader,
} from './shape.js';

/** An update as far as it could be read. */
export interface ReadUpdate {
  readonly reader: ObjectReader;
  readonly name: string | undefined;
  readonly handledBy: string | undefined;
  readonly output: Json | undefined;
}

const FIELDS = ['name', 'input_schema', 'validate', 'handled_by', 'output'];
const TAKERS = ['STEP_TYPE_CALLBACK', 'STEP_TYPE_SIGNAL'];
const NAME = 'a name of letters, digits, "_", "-", ".", "/" and ":", at most 128';

function readUpdate(reader: ObjectReader): ReadUpdate {
  refuseUnknown(reader, FIELDS, 'an update');
  const name = requireText(reader, 'name', {
    example: '"change-address"',
    isFine: (text) => TASK_NAME.test(text),
    wanted: NAME,
  });
  const handledBy = requireText(reader, 'handled_by', {
    example: '"the_step_that_takes_it"',
    isFine: (text) => text !== '',
    wanted: 'the ref of a step',
  });
  const schema = field(reader.object, 'input_schema');
  const path = childPath(reader.path, 'input_schema');
  const inner = schema === undefined ? undefined : readObject(reader.problems, path, schema);
  if (inner !== undefined) compileInputSchema(reader.problems, path, inner.object);
  return { reader, name, handledBy, output: field(reader.object, 'output') };
}

/** Reads the updates of a definition, by the steps that take them. */
export function readUpdates(root: ObjectReader): ReadonlyMap<string, ReadUpdate> {
  const list = optionalList(root, 'updates') ?? [];
  const path = childPath(root.path, 'updates');
  if (list.length > DEFINITION_LIMITS.updates) {
    const problem = `has ${list.length} updates, more than ${DEFINITION_LIMITS.updates}`;
    root.problems.add(path, undefined, problem, 'Let fewer updates carry what differs in their input.');
    return new Map();
  }
  const names = new Set<string>();
  const byStep = new Map<string, ReadUpdate>();
  for (const [index, value] of list.entries()) {
    const reader = readObject(root.problems, childPath(path, index), value);
    if (reader === undefined) continue;
    const update = readUpdate(reader);
    const { name, handledBy } = update;
    if (name !== undefined && names.has(name)) {
      root.problems.add(childPath(reader.path, 'name'), name, 'is the name of an earlier update', 'Rename it.');
    }
    if (name !== undefined) names.add(name);
    if (handledBy === undefined) continue;
    if (byStep.has(handledBy)) {
      const remedy = 'Give each update a step of its own.';
      root.problems.add(childPath(reader.path, 'handled_by'), handledBy, 'takes an earlier update', remedy);
    } else byStep.set(handledBy, update);
  }
  return byStep;
}

/** All steps of a level and of the bodies in it. */
function stepsOf(level: ReadLevel): readonly ReadStep[] {
  return [...level.steps, ...[...level.bodies.values()].flatMap(stepsOf)];
}

/** Refs of steps that undo others. */
function undoing(level: ReadLevel): readonly string[] {
  const own = level.edges.flatMap(({ type, target }) => (type === COMPENSATE ? [target] : []));
  return [...own, ...[...level.bodies.values()].flatMap(undoing)];
}

/** What a step that takes an update must not say itself. */
function checkTaker({ reader, args }: ReadStep, { name, reader: { path } }: ReadUpdate): void {
  const own = field(args, 'name');
  const argsPath = childPath(reader.path, 'args');
  if (own !== undefined && own !== name) {
    const problem = `differs from the name of the update that the step takes (${path})`;
    reader.problems.add(childPath(argsPath, 'name'), own, problem, 'Leave it out.');
  }
  if (field(args, 'schema') === undefined) return;
  const remedy = 'Move it there: input_schema.';
  reader.problems.add(childPath(argsPath, 'schema'), undefined, `belongs to the update (${path})`, remedy);
}

function checkHandler(update: ReadUpdate, handledBy: string, level: ReadLevel): void {
  const { reader, name } = update;
  const path = childPath(reader.path, 'handled_by');
  const steps = stepsOf(level);
  const step = steps.find(({ ref }) => ref === handledBy);
  const takers = steps.flatMap(({ ref, type }) => (TAKERS.includes(type?.name ?? '') ? (ref ?? []) : []));
  if (step === undefined) {
    reader.problems.add(path, handledBy, 'is no step', `Name one.${didYouMean(handledBy, takers)}`);
    return;
  }
  if (step.type !== undefined && !TAKERS.includes(step.type.name)) {
    const remedy = `Name a step that can take it: ${TAKERS.join(' or ')}.`;
    reader.problems.add(path, handledBy, `is a ${step.type.name}, which takes no update`, remedy);
    return;
  }
  if (undoing(level).includes(handledBy)) {
    reader.problems.add(path, handledBy, 'undoes another step', 'Name a step that the run comes to.');
  }
  checkTaker(step, update);
  const sharing = steps.find(
    ({ ref = '', type, args }) =>
      ref !== handledBy && type?.signalOf !== undefined && signalName({ ref, args }) === name,
  );
  if (sharing !== undefined) {
    const problem = `is the signal of step ${sharing.ref ?? ''} too`;
    reader.problems.add(childPath(reader.path, 'name'), name, problem, 'Rename one of them.');
  }
}

/** Reads all steps of the run as it stands. */
function anytime(level: ReadLevel): Reader {
  const refs = new Set(level.steps.flatMap(({ ref }) => ref ?? []));
  const hidden = new Set([...level.bodies.values()].flatMap(stepsOf).flatMap(({ ref }) => ref ?? []));
  return { ref: '', refs, hidden, isBefore: () => true };
}

/** Says what is wrong with updates; what their answers read is checked with the steps that take them. */
export function checkUpdates(updates: ReadonlyMap<string, ReadUpdate>, level: ReadLevel, cel: CelCompiler): void {
  for (const [handledBy, update] of updates) {
    checkHandler(update, handledBy, level);
    const { reader } = update;
    const text = optionalText(reader, 'validate');
    if (text === undefined) continue;
    const checks = { problems: reader.problems, cel: compilerWithin(cel, ['update']), reader: anytime(level) };
    checkExpression(checks, childPath(reader.path, 'validate'), text, 'step');
  }
}

/** Says what is wrong with queries. */
export function checkQueries(root: ObjectReader, level: ReadLevel, cel: CelCompiler): void {
  const value = field(root.object, 'queries');
  const path = childPath(root.path, 'queries');
  const queries = value === undefined ? undefined : readObject(root.problems, path, value);
  if (queries === undefined) return;
  const entries = Object.entries(queries.object);
  if (entries.length > DEFINITION_LIMITS.queries) {
    const problem = `has ${entries.length} queries, more than ${DEFINITION_LIMITS.queries}`;
    root.problems.add(path, undefined, problem, 'Let one of them answer an object.');
  }
  const checks = { problems: root.problems, cel, reader: anytime(level) };
  for (const [name, text] of entries) {
    const at = childPath(path, name);
    if (!TASK_NAME.test(name)) root.problems.add(at, name, `must be ${NAME}`, 'Rename it, such as "progress".');
    if (typeof text === 'string') checkExpression(checks, at, text, 'step');
    else root.problems.add(at, text, 'is no CEL expression', 'Write one, such as "steps.a.output".');
  }
}
