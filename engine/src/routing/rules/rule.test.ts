import { describe, expect, it } from 'vitest';
import { createCelCompiler } from '../../expressions/index.js';
import { DuctorError } from '../../kernel/index.js';
import { rulesOf } from '../testing/decision-kit.js';
import { idOf } from '../testing/strategy-kit.js';
import { ruleCheck } from './rule.js';

const rules = ruleCheck(createCelCompiler());

function refused(input: object): readonly string[] {
  try {
    rules.create({ name: 'r', expr: 'true', pool_id: idOf(1), ...input });
    return [];
  } catch (caught) {
    return DuctorError.from(caught).details.map(({ path, problem, remedy }) => `${path} ${problem} ${remedy}`);
  }
}

describe('a rule', () => {
  it('routes, stops and is enabled unless it says otherwise', () => {
    expect(rules.create({ name: 'r', expr: 'true', pool_id: idOf(1) })).toEqual({
      name: 'r',
      expr: 'true',
      pool_id: idOf(1),
      priority: 0,
      action: 'route',
      stop: true,
      enabled: true,
    });
  });

  it.each<[string, object, string]>([
    [
      'a field that does not exist',
      { expr: 'routable.kind == "x"' },
      'expr line 1, column 10: there is no field "kind"',
    ],
    ['a misspelt field, with a hint', { expr: 'routable.tpye == "x"' }, 'type'],
    ['a result that is no bool', { expr: 'routable.priority' }, 'it yields a double, and a bool is wanted'],
    ['a recipient: nobody is chosen yet', { expr: 'recipient.weight > 1.0' }, 'expr line 1, column 1'],
    ['two types that do not compare', { expr: 'routable.type > 5' }, 'expr line 1'],
    ['no pool', { pool_id: null }, 'pool_id'],
    ['a name with a space', { name: 'a b' }, 'name is not a name'],
    ['an unknown action', { action: 'rout' }, 'Did you mean "route"?'],
    ['a moment without zone', { effective_from: '2026-01-01' }, 'effective_from is not an instant'],
  ])('cannot have %s', (_, fields, problem) => {
    expect(refused(fields)).toEqual(expect.arrayContaining([expect.stringContaining(problem)]));
  });

  it('is updated in part', () => {
    const before = rules.create({ name: 'r', expr: 'true', pool_id: idOf(1), priority: 4 });
    expect(rules.update(before, { enabled: false })).toEqual({ ...before, enabled: false });
  });

  it('stands by its priority, then by its name in byte order', () => {
    const names = rulesOf(
      { name: 'b', expr: 'true', pool_id: idOf(1) },
      { name: 'B', expr: 'true', pool_id: idOf(1) },
      { name: 'a', expr: 'true', pool_id: idOf(1), priority: -1 },
    ).map(({ fields }) => fields.name);
    expect(names).toEqual(['a', 'B', 'b']);
  });
});
