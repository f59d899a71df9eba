/** Types of a whole expression. Goes on after a finding, so that all of them are told at once. */
import { TYPE_NAMES } from '../functions/conversions.js';
import { kindOf } from '../values/values.js';
import type {
  CallExpr,
  ChooseExpr,
  Expr,
  HasExpr,
  IndexExpr,
  LogicExpr,
  MapExpr,
  RangeExpr,
  SelectExpr,
} from '../syntax/expr.js';
import { MACRO_NAMES, NAMESPACES } from '../syntax/macros.js';
import type { Finding } from '../syntax/syntax-problem.js';
import type { CelSchema, CelType } from '../types.js';
import { callType } from './check-call.js';
import { binaryType, negatedType } from './check-operator.js';
import { nearestName } from './nearest.js';
import { isTypePath } from './type-path.js';
import {
  describe,
  elementsOf,
  fieldOf,
  isAssignable,
  isNumeric,
  join,
  plain,
  type StaticType,
  valuesOf,
} from './static-type.js';

/** Variables of the macros around a place, by name. */
type Locals = ReadonlyMap<string, StaticType>;

/** What is told of one expression. */
export interface CheckResult {
  readonly type: StaticType;
  readonly findings: readonly Finding[];
}

/** Names that are values in every schema: the types. */
export const TYPE_CONSTANTS: ReadonlySet<string> = new Set(
  Object.values(TYPE_NAMES).filter((name) => !name.includes('.')),
);

const NAMES_SHOWN = 12;

/** Checks an expression against a schema. */
export function check(expr: Expr, schema: CelSchema): CheckResult {
  const checker = new Checker(schema);
  const type = checker.typeOf(expr, new Map());
  return { type, findings: checker.findings };
}

class Checker {
  readonly findings: Finding[] = [];

  constructor(private readonly schema: CelSchema) {}

  typeOf(expr: Expr, locals: Locals): StaticType {
    switch (expr.kind) {
      case 'literal':
        return literalType(expr.value);
      case 'name':
        return this.nameType(expr.name, expr.at, locals);
      case 'select':
        return this.selectType(expr, locals);
      case 'has':
        return this.hasType(expr, locals);
      case 'index':
        return this.indexType(expr, locals);
      case 'call':
        return this.callType(expr, locals);
      case 'list':
        return { list: plain(this.joined(expr.items, locals)) };
      case 'map':
        return this.mapType(expr, locals);
      case 'choose':
        return this.chooseType(expr, locals);
      case 'and':
      case 'or':
        return this.logicType(expr, locals);
      case 'not':
        return this.needBool(expr.operand, locals, '! needs a bool');
      case 'negate':
        return this.report(negatedType(this.typeOf(expr.operand, locals), expr.at));
      case 'binary':
        return this.report(binaryType(expr, this.typeOf(expr.left, locals), this.typeOf(expr.right, locals)));
      case 'range':
        return this.rangeType(expr, locals);
      case 'bind':
        return this.typeOf(expr.body, new Map(locals).set(expr.variable, this.typeOf(expr.value, locals)));
    }
  }

  /** Notes a finding in place of a type. */
  private report(result: StaticType | Finding): StaticType {
    if (typeof result === 'string' || !('problem' in result)) return result;
    this.findings.push(result);
    return 'dyn';
  }

  private nameType(name: string, at: number, locals: Locals): StaticType {
    const known = locals.get(name) ?? fieldOf(this.schema.variables, name);
    if (known !== undefined) return known;
    if (TYPE_CONSTANTS.has(name)) return 'type';
    const names = [...locals.keys(), ...Object.keys(this.schema.variables)];
    const hint = nearestName(name, names);
    const remedy = NAMESPACES.has(name)
      ? `Call one of its functions, as in ${name}.x().`
      : `${hint === undefined ? '' : `Did you mean "${hint}"? `}${listNames(names)}`;
    return this.report({ at, problem: `there is no variable "${name}"`, remedy });
  }

  private selectType(expr: SelectExpr, locals: Locals): StaticType {
    if (isTypePath(expr)) return 'type';
    return this.fieldType(this.typeOf(expr.operand, locals), expr.field, expr.at);
  }

  private hasType(expr: HasExpr, locals: Locals): StaticType {
    this.fieldType(this.typeOf(expr.operand, locals), expr.field, expr.at);
    return 'bool';
  }

  private fieldType(owner: StaticType, field: string, at: number): StaticType {
    if (owner === 'dyn') return 'dyn';
    if (typeof owner === 'object' && 'map' in owner) return owner.map;
    if (typeof owner !== 'object' || !('object' in owner)) {
      return this.report({ at, problem: `${describe(owner)} has no fields`, remedy: fieldRemedy(owner) });
    }
    const declared = fieldOf(owner.object, field);
    if (declared !== undefined) return declared;
    if (owner.open === true) return 'dyn';
    const hint = nearestName(field, Object.keys(owner.object));
    const remedy = `${hint === undefined ? '' : `Did you mean "${hint}"? `}${listNames(Object.keys(owner.object))}`;
    return this.report({ at, problem: `there is no field "${field}"`, remedy });
  }

  private indexType(expr: IndexExpr, locals: Locals): StaticType {
    const owner = this.typeOf(expr.operand, locals);
    const key = this.typeOf(expr.key, locals);
    if (owner === 'dyn') return 'dyn';
    const elements = elementsOf(owner);
    if (elements !== undefined) {
      if (key === 'dyn' || isNumeric(key)) return elements;
      return this.report({
        at: expr.at,
        problem: `a list is indexed by ${describe(key)}`,
        remedy: 'Use an int, from 0.',
      });
    }
    if (valuesOf(owner) === undefined) {
      return this.report({ at: expr.at, problem: `${describe(owner)} cannot be indexed`, remedy: fieldRemedy(owner) });
    }
    if (expr.key.kind === 'literal' && typeof expr.key.value === 'string') {
      return this.fieldType(owner, expr.key.value, expr.at);
    }
    return typeof owner === 'object' && 'map' in owner ? owner.map : 'dyn';
  }

  private callType(expr: CallExpr, locals: Locals): StaticType {
    const isMacro = expr.isMethod && MACRO_NAMES.has(expr.name);
    const args = (isMacro ? expr.args.slice(0, 1) : expr.args).map((arg) => this.typeOf(arg, locals));
    return this.report(callType(expr, args));
  }

  private joined(items: readonly Expr[], locals: Locals): StaticType {
    const types = items.map((item) => this.typeOf(item, locals));
    return types.length === 0 ? 'dyn' : types.reduce(join);
  }

  private mapType(expr: MapExpr, locals: Locals): StaticType {
    const fields = new Map<string, CelType>();
    for (const [key, value] of expr.entries) {
      const keyType = this.typeOf(key, locals);
      if (!['dyn', 'string', 'bool', 'int', 'uint'].some((type) => type === keyType)) {
        this.report({
          at: key.at,
          problem: `a map key is ${describe(keyType)}`,
          remedy: 'Use a string, bool, int or uint.',
        });
      }
      const type = plain(this.typeOf(value, locals));
      if (key.kind === 'literal' && typeof key.value === 'string') fields.set(key.value, type);
    }
    if (fields.size === expr.entries.length && fields.size > 0)
      return { object: Object.fromEntries(fields), open: true };
    return { map: 'dyn' };
  }

  private chooseType(expr: ChooseExpr, locals: Locals): StaticType {
    this.needBool(expr.test, locals, 'the condition before ? needs a bool');
    return join(this.typeOf(expr.then, locals), this.typeOf(expr.otherwise, locals));
  }

  private logicType(expr: LogicExpr, locals: Locals): StaticType {
    const operator = expr.kind === 'and' ? '&&' : '||';
    this.needBool(expr.left, locals, `${operator} needs bools`);
    return this.needBool(expr.right, locals, `${operator} needs bools`);
  }

  private needBool(expr: Expr, locals: Locals, problem: string): StaticType {
    const type = this.typeOf(expr, locals);
    if (isAssignable(type, 'bool')) return 'bool';
    const found = `${problem}, and this is ${describe(type)}`;
    return this.report({ at: expr.at, problem: found, remedy: 'Compare it with something, as in x != "" or x > 0.' });
  }

  private rangeType(expr: RangeExpr, locals: Locals): StaticType {
    const range = this.typeOf(expr.range, locals);
    const inner = new Map(locals);
    const types = this.variableTypes(expr, range);
    expr.variables.forEach((name, index) => inner.set(name, types[index] ?? 'dyn'));
    if (expr.filter !== undefined) this.needBool(expr.filter, inner, `the filter of ${expr.macro}() needs a bool`);
    if (expr.macro === 'map' || expr.macro === 'transformList') return { list: plain(this.typeOf(expr.body, inner)) };
    if (expr.macro === 'transformMap') return { map: plain(this.typeOf(expr.body, inner)) };
    if (expr.macro === 'transformMapEntry') {
      this.typeOf(expr.body, inner);
      return { map: 'dyn' };
    }
    this.needBool(expr.body, inner, `${expr.macro}() needs a bool`);
    return expr.macro === 'filter' ? { list: plain(types[0] ?? 'dyn') } : 'bool';
  }

  /** Types of a macro's variables: the element, or the index and the element; the key, or the key and the value. */
  private variableTypes(expr: RangeExpr, range: StaticType): readonly StaticType[] {
    const isPair = expr.variables.length === 2;
    const elements = elementsOf(range);
    if (elements !== undefined) return isPair ? ['int', elements] : [elements];
    const values = valuesOf(range);
    if (values !== undefined) return isPair ? ['dyn', values] : ['dyn'];
    if (range !== 'dyn') {
      const problem = `${expr.macro}() goes through a list or a map, and this is ${describe(range)}`;
      this.report({ at: expr.range.at, problem, remedy: 'Put a list or a map before the dot.' });
    }
    return ['dyn', 'dyn'];
  }
}

function listNames(names: readonly string[]): string {
  const shown = names.slice(0, NAMES_SHOWN).join(', ');
  if (names.length === 0) return 'Nothing can be read here.';
  return `There ${names.length === 1 ? 'is' : 'are'}: ${shown}${names.length > NAMES_SHOWN ? ', …' : ''}.`;
}

function fieldRemedy(owner: StaticType): string {
  if (elementsOf(owner) !== undefined) return 'Take one element, list[0].x, or go through all, list.map(e, e.x).';
  return owner === 'string' ? 'Functions on text end in brackets: x.trim(), x.substring(0, 1).' : 'Look at its type.';
}

function literalType(value: unknown): StaticType {
  const kind = kindOf(value);
  return kind === 'list' || kind === 'map' ? 'dyn' : kind;
}
