/** House numbers of types: no any, no non-null assertion, few casts, no bare Error. */
import { type Finding, type SourceFile, isCode, isProduct, lineAt, lineCount } from '../source.js';
import { type Node, child, nameOf, parse, walk } from '../syntax.js';

/** Casts (`as X`) per 1,000 lines of product code that are accepted. */
export const CASTS_PER_KLOC_MAX = 2;

const NATIVE_ERRORS = new Set(['Error', 'TypeError', 'RangeError', 'SyntaxError', 'EvalError', 'URIError']);

/** Findings of one rule: every node of the files for which the test gives a message. */
function scan(rule: string, files: readonly SourceFile[], test: (node: Node) => string | undefined): Finding[] {
  const findings: Finding[] = [];
  for (const file of files) {
    walk(parse(file), (node) => {
      const message = test(node);
      if (message !== undefined) findings.push({ rule, path: file.path, line: lineAt(file.text, node.start), message });
    });
  }
  return findings;
}

/** Every `any`, in product and test code. */
export function anyTypes(files: readonly SourceFile[]): Finding[] {
  const message = 'the type any: say what it is, or unknown';
  return scan(
    'any',
    files.filter(({ path }) => isCode(path)),
    (node) => (node.type === 'TSAnyKeyword' ? message : undefined),
  );
}

/** Every non-null assertion (`value!`). */
export function nonNullAssertions(files: readonly SourceFile[]): Finding[] {
  const message = 'a non-null assertion: check the value instead';
  return scan(
    'non-null',
    files.filter(({ path }) => isCode(path)),
    (node) => (node.type === 'TSNonNullExpression' ? message : undefined),
  );
}

/** Every making of a native error in product code. */
export function bareErrors(files: readonly SourceFile[]): Finding[] {
  return scan(
    'bare-error',
    files.filter(({ path }) => isProduct(path)),
    (node) => {
      if (node.type !== 'NewExpression' && node.type !== 'CallExpression') return undefined;
      const name = nameOf(child(node, 'callee')) ?? '';
      return NATIVE_ERRORS.has(name) ? `a bare ${name}: throw an error with a code of the catalogue` : undefined;
    },
  );
}

/** Every cast in product code; `as const` is none. */
export function casts(files: readonly SourceFile[]): Finding[] {
  return scan(
    'cast',
    files.filter(({ path }) => isProduct(path)),
    (node) => {
      if (node.type !== 'TSAsExpression' && node.type !== 'TSTypeAssertion') return undefined;
      const type = child(node, 'typeAnnotation');
      const isConst = type?.type === 'TSTypeReference' && nameOf(child(type, 'typeName')) === 'const';
      return isConst ? undefined : 'a cast: narrow the type instead';
    },
  );
}

/** Casts per 1,000 lines of product code, 0 when there is none. */
export function castsPerKloc(files: readonly SourceFile[]): number {
  const lines = files.filter(({ path }) => isProduct(path)).reduce((sum, { text }) => sum + lineCount(text), 0);
  return lines === 0 ? 0 : (casts(files).length * 1000) / lines;
}
