/** Checks what computes: CEL with its position, and that a step is read only by those that come after it. */
import type { CelCompiler, CelReference, CelType } from '../../../expressions/index.js';
import { celSchemaOf, type VariableSet } from '../computing/cel-schemas.js';
import type { Json } from '../definition.js';
import { stepExpression } from '../names.js';
import { didYouMean } from '../suggest.js';
import { childPath, type ProblemSink } from './problems.js';
import { isJsonList, isJsonObject } from './shape.js';

/** Who reads, and which steps have ended for sure by then. */
export interface Reader {
  /** The step whose field it is; empty for the output of the run. */
  readonly ref: string;
  /** All steps of the definition. */
  readonly refs: ReadonlySet<string>;
  /** Steps in bodies that it cannot see into. */
  readonly hidden?: ReadonlySet<string>;
  /** Steps whose bodies it stands in. */
  readonly around?: ReadonlySet<string>;
  /** Whether edges lead from this step to the reader. */
  readonly isBefore: (ref: string) => boolean;
  /** Whether this step has ended whenever the reader evaluates; absent: that does not matter, it evaluates once. */
  readonly isSure?: (ref: string) => boolean;
}

/** What expressions are checked with. */
export interface ExpressionChecks {
  readonly problems: ProblemSink;
  readonly cel: CelCompiler;
  readonly reader: Reader;
}

const QUOTES_HINT = 'A literal text carries its own quotes: "\\"text\\"".';

/** A text that its author may have meant literally. */
function looksLiteral(text: string): boolean {
  return /^[\p{L}\p{N}\s.,:!?'-]*$/u.test(text);
}

function checkReference(checks: ExpressionChecks, path: string, text: string, reference: CelReference): void {
  const [root, ref] = reference;
  if (root !== 'steps') return;
  const { problems, reader } = checks;
  if (ref === undefined) {
    const remedy = 'Name the step in the expression: steps.my_step.output or steps["my-step"].output.';
    problems.add(path, text, 'reads steps without naming one', remedy);
    return;
  }
  const name = stepExpression(ref);
  if (reader.hidden?.has(ref) === true) {
    const remedy = 'Let its body say what it comes to (output), and collect that with a STEP_TYPE_GATHER.';
    problems.add(path, text, `${name} runs within a body and can be read only there`, remedy);
  } else if (reader.around?.has(ref) === true) {
    problems.add(path, text, `${name} runs this body`, 'Read steps of the body, or steps before the one that runs it.');
  } else if (!reader.refs.has(ref)) {
    problems.add(
      path,
      text,
      `${name} is no step of this definition`,
      `Name one that is.${didYouMean(ref, reader.refs)}`,
    );
  } else if (ref === reader.ref) {
    problems.add(path, text, `${name} is the step itself`, 'A step can read only steps before it.');
  } else if (!reader.isBefore(ref)) {
    const remedy = `Lead an edge from ${ref} to ${reader.ref}, directly or through other steps, or read another step.`;
    problems.add(path, text, `${name} is not before this step`, remedy);
  } else if (reader.isSure?.(ref) === false) {
    const remedy = `A join on the way begins before ${ref} has ended. Read it in a step, and that step here.`;
    problems.add(path, text, `${name} may still be under way when this condition is asked`, remedy);
  }
}

/** Checks one expression. */
export function checkExpression(
  checks: ExpressionChecks,
  path: string,
  text: string,
  variables: VariableSet,
  result: CelType = 'dyn',
): void {
  const schema = celSchemaOf(variables);
  const found = checks.cel.check(text, schema, result);
  for (const { position, problem, remedy } of found) {
    const hint = result === 'dyn' && looksLiteral(text) ? `${remedy} ${QUOTES_HINT}` : remedy;
    checks.problems.add(path, text, `${problem} (line ${position.line}, column ${position.column})`, hint);
  }
  if (found.length > 0) return;
  for (const reference of uniqueSteps(checks.cel.compile(text, schema, result).references)) {
    checkReference(checks, path, text, reference);
  }
}

/** One reference per step: `steps.a.output.x` and `steps.a.output.y` have one problem, not two. */
function uniqueSteps(references: readonly CelReference[]): readonly CelReference[] {
  const byStep = new Map(references.map((reference) => [JSON.stringify(reference.slice(0, 2)), reference]));
  return [...byStep.values()];
}

/** Checks a template: every text in it, however deep, is an expression. */
export function checkTemplate(checks: ExpressionChecks, path: string, value: Json, variables: VariableSet): void {
  if (typeof value === 'string') {
    checkExpression(checks, path, value, variables);
  } else if (isJsonList(value)) {
    value.forEach((item, index) => checkTemplate(checks, childPath(path, index), item, variables));
  } else if (isJsonObject(value)) {
    for (const [key, field] of Object.entries(value)) checkTemplate(checks, childPath(path, key), field, variables);
  }
}
