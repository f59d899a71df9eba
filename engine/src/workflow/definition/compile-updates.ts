/** Compiles what callers may ask of a run: updates and queries. */
import type { CelCompiler } from '../../expressions/index.js';
import type { PlanUpdate, Template } from '../machine/plan.js';
import { createBuilder } from './computing/builder.js';
import { compilerWithin, type BodyVariable } from './computing/cel-schemas.js';
import { compileTemplate, stepsReadBy } from './computing/template.js';
import { kindOfValue, valueFailed } from './computing/computed.js';
import type { Definition, UpdateDefinition } from './definition.js';
import { compileSchema } from './step-types/signal-arg.js';
import { overScope } from './step-types/step-type.js';

/** What an answer may read: the step that gives it may stand in any body. Validation knows which. */
const ALL_VARIABLES: readonly BodyVariable[] = ['index', 'item', 'update', 'vars'];

/** Why an update is refused, by its `validate`: false and any text but the empty one refuse. */
function compileRefusal(cel: CelCompiler, { name, validate }: UpdateDefinition): PlanUpdate['refusal'] {
  if (validate === undefined || validate === '') return null;
  const path = `validate of update ${name}`;
  const computed = createBuilder(compilerWithin(cel, ['update'])).expression(validate, path, 'step');
  const evaluate = overScope(computed, (evaluation) => {
    const found = computed.value(evaluation);
    if (found === true || found === '') return null;
    if (found === false) return `it does not hold that ${validate}`;
    if (typeof found === 'string') return found;
    const remedy = 'Compare, such as update.amount > 5.0, or give a text that says why.';
    return valueFailed(`${path} is ${kindOfValue(found)}, not true, false or a text`, remedy);
  });
  return { reads: stepsReadBy(computed.references), evaluate };
}

function compileUpdate(cel: CelCompiler, update: UpdateDefinition): PlanUpdate {
  const { name, handled_by: handledBy, output } = update;
  return {
    name,
    handledBy,
    check: compileSchema(update.input_schema, 'input_schema', 'input'),
    refusal: compileRefusal(cel, update),
    output: output === undefined ? null : compileTemplate(compilerWithin(cel, ALL_VARIABLES), output, 'output'),
  };
}

/** Names of updates by the refs of the steps that take them. */
export function handlersOf({ updates = [] }: Definition): ReadonlyMap<string, string> {
  return new Map(updates.map(({ name, handled_by: ref }) => [ref, name]));
}

/** The updates of a definition, by name. Throws as compilePlan. */
export function compileUpdates({ updates = [] }: Definition, cel: CelCompiler): ReadonlyMap<string, PlanUpdate> {
  return new Map(updates.map((update) => [update.name, compileUpdate(cel, update)]));
}

/** The queries of a definition, by name. Throws as compilePlan. */
export function compileQueries({ queries = {} }: Definition, cel: CelCompiler): ReadonlyMap<string, Template> {
  return new Map(Object.entries(queries).map(([name, text]) => [name, compileTemplate(cel, text, `queries.${name}`)]));
}
