/** House numbers of size: lines per file, lines per function, characters per line. */
import { type Finding, type SourceFile, isCode, isTest, lineAt, lineCount } from '../source.js';
import { type Node, child, nameOf, parse, walk } from '../syntax.js';

/** Most lines a file may have. */
export const FILE_LINES_MAX = 400;
/** Most lines a function may have, from its first to its last. */
export const FUNCTION_LINES_MAX = 60;
/** Most characters a line may have. */
export const LINE_CHARS_MAX = 120;

const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);
const TEST_BLOCKS = new Set(['describe', 'it', 'test']);

/** Files that are too long. */
export function longFiles(files: readonly SourceFile[]): Finding[] {
  return files
    .filter(({ path, text }) => isCode(path) && lineCount(text) > FILE_LINES_MAX)
    .map(({ path, text }) => ({
      rule: 'file-length',
      path,
      line: 0,
      message: `${lineCount(text)} lines; at most ${FILE_LINES_MAX}: split it by the things it does`,
    }));
}

/** Lines that are too wide. */
export function longLines(files: readonly SourceFile[]): Finding[] {
  return files
    .filter(({ path }) => isCode(path))
    .flatMap(({ path, text }) =>
      text.split('\n').flatMap((content, index) => {
        const message = `${content.length} characters; at most ${LINE_CHARS_MAX}`;
        return content.length > LINE_CHARS_MAX ? [{ rule: 'line-length', path, line: index + 1, message }] : [];
      }),
    );
}

/** Whether the function is the body of describe, it or test: it holds cases, not steps. */
function isTestBlock(parents: readonly Node[]): boolean {
  let callee = parents[0]?.type === 'CallExpression' ? child(parents[0], 'callee') : undefined;
  while (callee && nameOf(callee) === undefined) callee = child(callee, 'object') ?? child(callee, 'callee');
  return TEST_BLOCKS.has(nameOf(callee) ?? '');
}

/** Functions that are too long; bodies of describe, it and test in test code are not counted. */
export function longFunctions(files: readonly SourceFile[]): Finding[] {
  const findings: Finding[] = [];
  for (const file of files.filter(({ path }) => isCode(path))) {
    walk(parse(file), (node, parents) => {
      if (!FUNCTIONS.has(node.type) || (isTest(file.path) && isTestBlock(parents))) return;
      const line = lineAt(file.text, node.start);
      const lines = lineAt(file.text, node.end) - line + 1;
      if (lines <= FUNCTION_LINES_MAX) return;
      const message = `a function of ${lines} lines; at most ${FUNCTION_LINES_MAX}`;
      findings.push({ rule: 'function-length', path: file.path, line, message });
    });
  }
  return findings;
}
