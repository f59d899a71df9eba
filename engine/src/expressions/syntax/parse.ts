/**
 * Text to syntax tree. The only file that knows the parser library: its grammar, escapes and numbers are used, its
 * checker and evaluator are not (docs/decisions/0004-expressions.md says why).
 */
import { Environment, ParseError, type ASTNode } from '@marcbachmann/cel-js';
import { UnsignedInt } from '@marcbachmann/cel-js/evaluator';
import { LIMITS } from '../limits.js';
import { CelUint } from '../values/values.js';
import type { Expr } from './expr.js';
import { expandCall, expandMethod } from './macros.js';
import { SyntaxFailure } from './syntax-problem.js';

const parser = new Environment({
  unlistedVariablesAreDyn: true,
  limits: {
    maxAstNodes: LIMITS.nodes,
    maxDepth: LIMITS.depth,
    maxListElements: LIMITS.nodes,
    maxMapEntries: LIMITS.nodes,
    maxCallArguments: LIMITS.arguments,
  },
});

const INT_MAX = 2n ** 63n - 1n;

/**
 * Parses a text within the limits.
 * @throws SyntaxFailure
 */
export function parse(text: string): Expr {
  if (utf8Length(text) > LIMITS.textBytes) {
    throw tooCostly(0, `the text is longer than ${LIMITS.textBytes} bytes`, 'Split the expression.');
  }
  return convert(parseWithLibrary(text));
}

function parseWithLibrary(text: string): ASTNode {
  try {
    return parser.parse(text).ast;
  } catch (caught) {
    if (caught instanceof ParseError) throw explain(text, caught);
    if (caught instanceof RangeError) throw tooCostly(0, 'it is nested too deeply', 'Nest less, or split it.');
    throw caught;
  }
}

function utf8Length(text: string): number {
  return text.length > LIMITS.textBytes ? text.length : new TextEncoder().encode(text).length;
}

function tooCostly(at: number, problem: string, remedy: string): SyntaxFailure {
  return new SyntaxFailure({ at, problem, remedy, isTooCostly: true });
}

/** The library's words name tokens of its lexer; ours name what stands in the text and what to write instead. */
function explain(text: string, error: ParseError): SyntaxFailure {
  const at = error.range?.start ?? 0;
  if (error.code === 'limit_exceeded') {
    const isDepth = error.summary.includes('maxDepth');
    const limit = isDepth ? `nested more than ${LIMITS.depth} deep` : `made of more than ${LIMITS.nodes} parts`;
    return tooCostly(at, `it is ${limit}`, 'Split the expression, or pass part of it in as data.');
  }
  if (text.trim() === '') return new SyntaxFailure({ at: 0, problem: 'it is empty', remedy: 'Write an expression.' });
  return new SyntaxFailure({ at, ...describeParseError(text, error, at) });
}

function describeParseError(text: string, error: ParseError, at: number): { problem: string; remedy: string } {
  const rest = text.slice(at);
  const word = /^[A-Za-z_][A-Za-z0-9_]*/.exec(rest)?.[0] ?? '';
  const instead = INSTEAD.get(word);
  if (instead !== undefined && at > 0) return { problem: `"${word}" is not an operator`, remedy: `Write ${instead}.` };
  if (/^=[^=]/.test(rest)) return { problem: 'unexpected "="', remedy: 'Compare with ==.' };
  if (/^&[^&]/.test(rest)) return { problem: 'unexpected "&"', remedy: 'Write && for "and".' };
  if (/^\|[^|]/.test(rest)) return { problem: 'unexpected "|"', remedy: 'Write || for "or".' };
  if (rest.startsWith('`') || text[at - 1] === '`') {
    return { problem: 'unexpected "`"', remedy: 'Read a field of any name with brackets: a["x-y"].' };
  }
  if (rest.trim() === '') return { problem: 'it ends too early', remedy: 'Complete it, and close what is open.' };
  if (STRUCTURAL.has(error.code)) {
    const seen = word === '' ? rest.slice(0, 1) : word;
    return { problem: `unexpected "${seen}"`, remedy: 'Look for a missing operator, quote or bracket before it.' };
  }
  return { problem: lowerFirst(error.summary), remedy: 'See docs/expressions.md for what an expression may hold.' };
}

const INSTEAD: ReadonlyMap<string, string> = new Map([
  ['and', '&&'],
  ['or', '||'],
  ['not', '!'],
  ['is', '=='],
  ['eq', '=='],
  ['ne', '!='],
]);
const STRUCTURAL: ReadonlySet<string> = new Set(['unexpected_character', 'unexpected_token', 'expected_token']);

function lowerFirst(words: string): string {
  return words.slice(0, 1).toLowerCase() + words.slice(1);
}

function convert(node: ASTNode): Expr {
  const at = node.pos;
  switch (node.op) {
    case 'value':
      return { kind: 'literal', at, value: literalValue(node, node.args) };
    case 'id':
      return { kind: 'name', at, name: node.args };
    case '.':
      return { kind: 'select', at, operand: convert(node.args[0]), field: node.args[1] };
    case '[]':
      return { kind: 'index', at: node.args[1].start, operand: convert(node.args[0]), key: convert(node.args[1]) };
    case 'call':
      return expandCall(at, node.args[0], node.args[1].map(convert));
    case 'rcall':
      return expandMethod(
        methodAt(node, node.args[0], node.args[1]),
        node.args[0],
        convert(node.args[1]),
        node.args[2].map(convert),
      );
    case 'list':
      return { kind: 'list', at, items: node.args.map(convert) };
    case 'map':
      return { kind: 'map', at, entries: node.args.map(([key, value]) => [convert(key), convert(value)] as const) };
    case '?:':
      return {
        kind: 'choose',
        at: node.args[0].start,
        test: convert(node.args[0]),
        then: convert(node.args[1]),
        otherwise: convert(node.args[2]),
      };
    case '&&':
    case '||':
      return { kind: node.op === '&&' ? 'and' : 'or', at, left: convert(node.args[0]), right: convert(node.args[1]) };
    case '!_':
      return { kind: 'not', at, operand: convert(node.args) };
    case '-_':
      return negate(at, node.args);
    case '.?':
    case '[?]':
      throw new SyntaxFailure({ at, problem: 'optional fields are not supported', remedy: 'Guard it with has().' });
    default:
      return { kind: 'binary', at, operator: node.op, left: convert(node.args[0]), right: convert(node.args[1]) };
  }
}

/** Where the name of a method stands: after its receiver and the dot. */
function methodAt(node: ASTNode, name: string, receiver: ASTNode): number {
  const found = node.input.indexOf(name, receiver.end);
  return found === -1 || found >= node.end ? node.pos : found;
}

/** `-9223372036854775808` is one literal: its digits alone are no int. */
function negate(at: number, operand: ASTNode): Expr {
  if (operand.op === 'value' && typeof operand.args === 'bigint' && operand.args <= INT_MAX + 1n) {
    return { kind: 'literal', at, value: -operand.args };
  }
  return { kind: 'negate', at, operand: convert(operand) };
}

function literalValue(node: ASTNode, value: unknown): unknown {
  if (value instanceof UnsignedInt) return new CelUint(value.value);
  if (value instanceof Uint8Array) return bytesLiteral(node, value);
  if (typeof value === 'bigint' && value > INT_MAX) {
    throw new SyntaxFailure({
      at: node.pos,
      problem: 'the number does not fit into 64 bits',
      remedy: 'Write it as a double (add .0) or, if it is positive, as a uint (add u).',
    });
  }
  return value;
}

/** The library keeps one byte of each character beyond ASCII; CEL wants its UTF-8. */
function bytesLiteral(node: ASTNode, value: Uint8Array): Uint8Array {
  const source = node.input.slice(node.start, node.end);
  if (!/[^\x00-\x7f]/.test(source)) return value;
  if (!source.includes('\\')) return new TextEncoder().encode(source.replace(/^[bB]("{3}|'{3}|["'])([^]*)\1$/, '$2'));
  throw new SyntaxFailure({
    at: node.pos,
    problem: 'a bytes literal mixes escapes with characters beyond ASCII',
    remedy: 'Write those characters as escapes too, or use bytes("…").',
  });
}
