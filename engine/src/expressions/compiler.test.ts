import { describe, expect, it } from 'vitest';
import { DuctorError } from '../kernel/index.js';
import { createCelCompiler, type CelSchema, type CelType } from './index.js';

const compiler = createCelCompiler();
const schema: CelSchema = {
  id: 'compiler',
  variables: {
    input: {
      object: { id: 'string', amount: 'double', items: { list: { object: { price: 'double', sku: 'string' } } } },
    },
    steps: { object: { score: { object: { output: { object: { amount: 'double' } } } } } },
    vars: 'dyn',
    run: { object: { started_at: 'timestamp', attributes: { map: 'string' } }, open: true },
    index: 'int',
  },
};

/** `line:column problem | remedy` of everything that is wrong. */
function problems(text: string, expected?: CelType): readonly string[] {
  return compiler.check(text, schema, expected).map(({ position, problem, remedy }) => {
    return `${position.line}:${position.column} ${problem} | ${remedy}`;
  });
}

function typeOf(text: string): CelType {
  return compiler.compile(text, schema).resultType;
}

describe('check', () => {
  it.each<[string, string]>([
    ['input.amuont > 1', '1:7 there is no field "amuont" | Did you mean "amount"? There are: id, amount, items.'],
    ['steps.scoer.output', '1:7 there is no field "scoer" | Did you mean "score"? There is: score.'],
    [
      'inptu.amount',
      '1:1 there is no variable "inptu" | Did you mean "input"? There are: input, steps, vars, run, index.',
    ],
    ['input["amuont"] > 1', '1:7 there is no field "amuont" | Did you mean "amount"? There are: id, amount, items.'],
    ['has(input.amuont)', '1:11 there is no field "amuont" | Did you mean "amount"? There are: id, amount, items.'],
    ['input.items.map(i, i.prize)', '1:22 there is no field "prize" | Did you mean "price"? There are: price, sku.'],
    ['input.items.exists(item, itm.price > 1.0)', '1:26 there is no variable "itm" | Did you mean "item"?'],
    [
      'input.items.price',
      '1:13 a list of object has no fields | Take one element, list[0].x, or go through all, list.map(e, e.x).',
    ],
    [
      'input.id.length',
      '1:10 a string has no fields | Functions on text end in brackets: x.trim(), x.substring(0, 1).',
    ],
    ['input.id.lenght()', '1:10 there is no method "lenght" | '],
    ['input.id.length()', '1:10 there is no method "length" | Write size(x).'],
    ['input.id.startWith("a")', '1:10 there is no method "startWith" | Did you mean "startsWith"?'],
    ['startsWith(input.id, "a")', '1:1 "startsWith" is no function | Write x.startsWith().'],
    [
      'now() > run.started_at',
      '1:1 there is no function "now" | Write a timestamp that is passed in: an expression has no clock.',
    ],
    ['input.items.map(i)', '1:13 map() takes a variable and an expression | Write list.map(e, e.x == 1).'],
    ['input.id > 5', '1:7 > does not take a string and an int | Convert one of them: string(x), int(x), double(x).'],
    ['input.id + 1', '1:7 + does not take a string and an int | Convert the other: "n = " + string(n).'],
    ['input.id == 5', '1:7 == does not take a string and an int | '],
    [
      'input.amount && true',
      '1:7 && needs bools, and this is a double | Compare it with something, as in x != "" or x > 0.',
    ],
    ['input.amount ? 1 : 2', '1:7 the condition before ? needs a bool, and this is a double'],
    [
      'run.started_at > "2026-01-01"',
      '1:5 > does not take a timestamp and a string | Convert the other: timestamp("2026-03-01T09:00:00Z").',
    ],
    ['input.items.filter(i, i.price)', '1:25 filter() needs a bool, and this is a double'],
    ['input.amount.map(x, x)', '1:7 map() goes through a list or a map, and this is a double'],
    ['input.items["0"]', '1:13 a list is indexed by a string | Use an int, from 0.'],
    ['5 in input.id', '1:1 in does not take an int and a string | Write x in list, or "key" in map.'],
    ['"a" in [1, 2]', '1:1 in does not take a string and a list of int'],
    [
      'input.id.substring("a")',
      '1:10 substring() does not take a string, a string | It is string.substring(int) or string.substring(int, int).',
    ],
    [
      'input.id.matches("(")',
      '1:18 a pattern is not a regular expression | Write it in RE2 syntax (no look-around, no \\1).',
    ],
    ['input.id.matches("(?=a)")', '1:18 a pattern is not a regular expression'],
    ['input.amount = 5', '1:14 unexpected "=" | Compare with ==.'],
    ['input.amount > 5 and true', '1:18 "and" is not an operator | Write &&.'],
    ['input.amount > 5 & true', '1:18 unexpected "&" | Write && for "and".'],
    ['input.id == "a', '1:13 unterminated string'],
    ['input.id ==', '1:12 it ends too early | Complete it, and close what is open.'],
    ['(input.id', '1:10 it ends too early'],
    ['input.`x-y`', '1:7 unexpected "`" | Read a field of any name with brackets: a["x-y"].'],
    ['input.?id', '1:7 unexpected "?"'],
    ['', '1:1 it is empty | Write an expression.'],
    ['  \n ', '1:1 it is empty'],
    ['has(input)', '1:1 has() takes one field | Write has(a.b).'],
    ['vars.map(1, 2)', '1:10 '],
    ['cel.bind(x, 1)', '1:5 cel.bind() takes a name, a value and an expression | Write cel.bind(x, a + b, x * x).'],
    ['math', '1:1 there is no variable "math" | Call one of its functions, as in math.x().'],
    ['math.maximum(1, 2)', '1:6 there is no function "math.maximum"'],
    ['{[1]: 2}', '1:2 a map key is a list of int | Use a string, bool, int or uint.'],
  ])('%s: %s', (text, expected) => {
    const found = problems(text);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(expected);
  });

  it('tells lines and columns', () => {
    expect(problems('input.amount > 1.0 &&\n  input.idd == "x" // why\n')).toEqual([
      '2:9 there is no field "idd" | Did you mean "id"? There are: id, amount, items.',
    ]);
    expect(compiler.check('vars.a &&\n\n inptu', schema)[0]?.position).toEqual({ line: 3, column: 2, offset: 12 });
  });

  it('tells everything that is wrong, in order of the text', () => {
    const found = problems('input.idd == "x" && stesp.score > 1 || input.items.all(i, i.prize > 1.0 && i.skuu == "a")');
    expect(found.map((line) => line.split(' | ')[0])).toEqual([
      '1:7 there is no field "idd"',
      '1:21 there is no variable "stesp"',
      '1:61 there is no field "prize"',
      '1:78 there is no field "skuu"',
    ]);
  });

  it.each([
    'input.amount + 1',
    'input.amount > 50000',
    'size(input.items) * 2.5',
    'input.amount in [1, 2]',
    'input.items[0].price * 2',
    'input.items[index].sku',
    'input.id.substring(index)',
    'input.id.substring(input.amount)',
    'vars.anything.goes[0] + 1',
    'run.unknown_but_open.x == 1',
    'run.attributes.anything == "x"',
    'input.id == null',
    'input == null || has(input.id)',
    'size(input)',
    '"id" in input',
    'input.map(key, key)',
    'true ? 1 : "a"',
    '[1, "a", null]',
  ])('%s has nothing wrong', (text) => {
    expect(problems(text)).toEqual([]);
  });
});

describe('types', () => {
  it.each<[string, CelType]>([
    ['input.amount + 1', 'double'],
    ['index + 1', 'int'],
    ['index + 1.5', 'double'],
    ['vars.x + 1', 'dyn'],
    ['vars.x > 1', 'bool'],
    ['input.items', { list: { object: { price: 'double', sku: 'string' } } }],
    ['input.items.map(i, i.price)', { list: 'double' }],
    ['input.items.filter(i, i.price > 1.0)[0].sku', 'string'],
    ['{"a": input.id, "b": [1]}', { object: { a: 'string', b: { list: 'int' } }, open: true }],
    ['run.started_at + duration("1h")', 'timestamp'],
    ['run.started_at - run.started_at', 'duration'],
    ['true ? 1 : 2', 'int'],
    ['true ? 1 : 2.5', 'dyn'],
    ['[1, 2.5]', { list: 'dyn' }],
    ['[]', { list: 'dyn' }],
    ['null', 'null'],
    ['type(1)', 'dyn'],
    ['math.greatest(1, 2)', 'dyn'],
    ['math.abs(index)', 'int'],
    ['b"x"', 'bytes'],
    ['1u', 'uint'],
  ])('%s is %j', (text, expected) => {
    expect(typeOf(text)).toEqual(expected);
  });

  it('wants what is expected', () => {
    expect(problems('input.amount > 1.0', 'bool')).toEqual([]);
    expect(problems('vars.x', 'bool')).toEqual([]);
    expect(problems('1', 'double')).toEqual([]);
    expect(problems('input.amount', 'int')).toEqual([]);
    expect(problems('input.id', 'bool')).toEqual([
      '1:1 it yields a string, and a bool is wanted | Compare or convert its result.',
    ]);
    expect(problems('input.items', { list: 'string' })).toHaveLength(1);
    expect(problems('{"a": 1}', { object: { a: 'double' } })).toEqual([]);
    expect(problems('{"a": "x"}', { object: { a: 'double' } })).toHaveLength(1);
  });

  it('looks at the value when the type was unknown', () => {
    const isOpen = compiler.compile('vars.x', schema, 'bool');
    expect(isOpen.evaluate({ vars: { x: true } })).toBe(true);
    expect(() => isOpen.evaluate({ vars: { x: 'secret' } })).toThrow(
      expect.objectContaining({
        code: 'expression_failed',
        message: 'line 1, column 1: it yields a string, and a bool is wanted',
      }),
    );
    const attempts = compiler.compile('vars.x', schema, 'int');
    expect(attempts.evaluate({ vars: { x: 3 } })).toBe(3);
    expect(() => attempts.evaluate({ vars: { x: 3.5 } })).toThrow('it yields a double, and an int is wanted');
  });
});

describe('references', () => {
  it.each<[string, readonly (readonly string[])[]]>([
    [
      'steps.score.output.amount > input.amount',
      [
        ['steps', 'score', 'output', 'amount'],
        ['input', 'amount'],
      ],
    ],
    ['steps["score"].output["amount"]', [['steps', 'score', 'output', 'amount']]],
    ['vars[input.id].x', [['vars'], ['input', 'id']]],
    ['vars.list[0].x', [['vars', 'list']]],
    ['has(vars.a.b)', [['vars', 'a', 'b']]],
    [
      'vars.a.b == 1 || vars.a.b == 2 || vars.a == 3',
      [
        ['vars', 'a', 'b'],
        ['vars', 'a'],
      ],
    ],
    [
      'input.items.map(i, i.price + vars.tax)',
      [
        ['input', 'items'],
        ['vars', 'tax'],
      ],
    ],
    ['input.items.all(input, input.price > 1.0)', [['input', 'items']]],
    ['input.items.all(i, input.items.exists(vars, vars.price == i.price))', [['input', 'items']]],
    ['cel.bind(vars, input.id, vars + vars)', [['input', 'id']]],
    [
      'input.id.startsWith(vars.prefix)',
      [
        ['input', 'id'],
        ['vars', 'prefix'],
      ],
    ],
    ['size(vars)', [['vars']]],
    ['1 + 2', []],
    ['type(1) == int', []],
  ])('of %s', (text, expected) => {
    expect(compiler.compile(text, schema).references).toEqual(expected);
  });
});

describe('errors', () => {
  it('carry code, position, path and remedy', () => {
    let caught: unknown;
    try {
      compiler.compile('input.idd == 1 && inptu', schema);
    } catch (error) {
      caught = error;
    }
    const error = DuctorError.from(caught);
    expect(error.code).toBe('expression_invalid');
    expect(error.message).toBe('line 1, column 7: there is no field "idd"');
    expect(error.remedy).toContain('Did you mean "id"?');
    expect(error.details).toHaveLength(2);
    expect(error.details[1]).toMatchObject({ path: '', problem: 'line 1, column 19: there is no variable "inptu"' });
  });

  it('refuse schemas with names that nothing could read', () => {
    for (const name of ['constructor', 'toString', 'math', 'a-b', '']) {
      expect(() => compiler.check('1', { id: `bad ${name}`, variables: { [name]: 'dyn' } })).toThrow('expr-schema');
    }
  });
});

describe('the cache', () => {
  it('answers the same expression for the same text, schema and expected type', () => {
    const own = createCelCompiler({ cacheSize: 2 });
    const first = own.compile('vars.x', schema);
    expect(own.compile('vars.x', schema)).toBe(first);
    expect(own.compile('vars.x', schema, 'bool')).not.toBe(first);
    expect(own.compile('vars.x', { ...schema, id: 'other' })).not.toBe(first);
    expect(own.compile('vars.x', schema)).not.toBe(first);
  });
});

describe('evaluation', () => {
  it('reads the scope in place: nothing of it is listed or copied', () => {
    const touched: string[] = [];
    const big = new Proxy<Record<string, unknown>>(
      { amount: 7 },
      {
        get: (target, key) => {
          touched.push(String(key));
          return Reflect.get(target, key);
        },
        ownKeys: () => expect.fail('the keys were listed'),
      },
    );
    const amount = compiler.compile('vars.amount + 1 > 7', schema);
    expect(amount.evaluate({ vars: big })).toBe(true);
    expect(touched).toEqual(['amount']);
    expect(compiler.compile('vars', schema).evaluate({ vars: big })).toBe(big);
  });

  it('never changes the scope', () => {
    const scope = Object.freeze({ vars: Object.freeze({ l: Object.freeze([3, 1, 2]), m: Object.freeze({ a: 1 }) }) });
    const text = 'vars.l.map(x, x + 1) + vars.l == [4, 2, 3, 3, 1, 2] && vars.m == {"a": 1}';
    expect(compiler.compile(text, schema).evaluate(scope)).toBe(true);
  });
});
