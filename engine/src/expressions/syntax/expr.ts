/** The syntax tree the room works on: names resolved to macros and namespaces, no type of the parser library left. */

/** Operators of two operands that always evaluate both. */
export type BinaryOperator = '==' | '!=' | 'in' | '+' | '-' | '*' | '/' | '%' | '<' | '<=' | '>' | '>=';

/** Macros that pass through a list or the keys of a map. */
export type RangeMacro =
  'all' | 'exists' | 'exists_one' | 'map' | 'filter' | 'transformList' | 'transformMap' | 'transformMapEntry';

/** `at` is the offset of what an error should point to, in UTF-16 units of the text. */
interface Node<K extends string> {
  readonly kind: K;
  readonly at: number;
}

/** A constant. Ints are bigint, uints CelUint, doubles number. */
export interface LiteralExpr extends Node<'literal'> {
  readonly value: unknown;
}

/** A variable, a variable of a macro, or the name of a type. */
export interface NameExpr extends Node<'name'> {
  readonly name: string;
}

/** `operand.field` */
export interface SelectExpr extends Node<'select'> {
  readonly operand: Expr;
  readonly field: string;
}

/** `has(operand.field)` */
export interface HasExpr extends Node<'has'> {
  readonly operand: Expr;
  readonly field: string;
}

/** `operand[key]` */
export interface IndexExpr extends Node<'index'> {
  readonly operand: Expr;
  readonly key: Expr;
}

/** `name(args)`, or `args[0].name(...)` when it is a method. Functions of a namespace are named `math.abs`. */
export interface CallExpr extends Node<'call'> {
  readonly name: string;
  readonly isMethod: boolean;
  readonly args: readonly Expr[];
}

/** `[items]` */
export interface ListExpr extends Node<'list'> {
  readonly items: readonly Expr[];
}

/** `{key: value}` */
export interface MapExpr extends Node<'map'> {
  readonly entries: readonly (readonly [Expr, Expr])[];
}

/** `test ? then : otherwise` */
export interface ChooseExpr extends Node<'choose'> {
  readonly test: Expr;
  readonly then: Expr;
  readonly otherwise: Expr;
}

/** `left && right`, `left || right` */
export interface LogicExpr extends Node<'and' | 'or'> {
  readonly left: Expr;
  readonly right: Expr;
}

/** `!operand`, `-operand` */
export interface UnaryExpr extends Node<'not' | 'negate'> {
  readonly operand: Expr;
}

/** Two operands and an operator that evaluates both. */
export interface BinaryExpr extends Node<'binary'> {
  readonly operator: BinaryOperator;
  readonly left: Expr;
  readonly right: Expr;
}

/** `range.macro(variables, body)`; `filter` is the condition of the longer forms of map and transform. */
export interface RangeExpr extends Node<'range'> {
  readonly macro: RangeMacro;
  readonly range: Expr;
  readonly variables: readonly string[];
  readonly filter: Expr | undefined;
  readonly body: Expr;
}

/** `cel.bind(variable, value, body)` */
export interface BindExpr extends Node<'bind'> {
  readonly variable: string;
  readonly value: Expr;
  readonly body: Expr;
}

/** Any expression. */
export type Expr =
  | LiteralExpr
  | NameExpr
  | SelectExpr
  | HasExpr
  | IndexExpr
  | CallExpr
  | ListExpr
  | MapExpr
  | ChooseExpr
  | LogicExpr
  | UnaryExpr
  | BinaryExpr
  | RangeExpr
  | BindExpr;

/** The expressions directly inside one, in order of the text. */
export function childrenOf(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case 'literal':
    case 'name':
      return [];
    case 'select':
    case 'has':
    case 'not':
    case 'negate':
      return [expr.operand];
    case 'index':
      return [expr.operand, expr.key];
    case 'call':
      return expr.args;
    case 'list':
      return expr.items;
    case 'map':
      return expr.entries.flat();
    case 'choose':
      return [expr.test, expr.then, expr.otherwise];
    case 'and':
    case 'or':
    case 'binary':
      return [expr.left, expr.right];
    case 'range':
      return expr.filter === undefined ? [expr.range, expr.body] : [expr.range, expr.filter, expr.body];
    case 'bind':
      return [expr.value, expr.body];
  }
}
