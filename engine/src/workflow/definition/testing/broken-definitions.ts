/** Definitions that no validation may let pass, with everything that is wrong with each. */

/** A step whose body runs in an app. */
export const callback = (ref: string, more: object = {}): object => ({ ref, type: 'STEP_TYPE_CALLBACK', ...more });
/** An edge by success. */
export const edge = (source_ref: string, target_ref: string, more: object = {}): object => {
  return { source_ref, target_ref, type: 'EDGE_TYPE_SUCCESS', ...more };
};
/** A definition. */
export const workflow = (steps: unknown, more: object = {}): object => ({ family_slug: 'flow', steps, ...more });

/** A name, a definition, and `path: problem` of all that is wrong with it. */
export type BrokenDefinition = readonly [string, unknown, readonly (string | RegExp)[]];

/** They. */
export const BROKEN_DEFINITIONS: readonly BrokenDefinition[] = [
  ['no object', null, ['definition: is null, not an object']],
  ['nothing', {}, ['family_slug: is missing', 'steps: is missing']],
  ['no steps', workflow([]), ['steps: is empty']],
  ['a long title', workflow([callback('a')], { title: 'x'.repeat(257) }), ['title: is longer than 256 characters']],
  ['a title of two lines', workflow([callback('a', { title: 'a\nb' })]), ['steps[0].title: holds a control character']],
  ['a ref that no object can hold', workflow([callback('__proto__')]), [/^steps\[0\]\.ref: must be made of/]],
  [
    'an edge to itself',
    workflow([callback('a')], { edges: [edge('a', 'a')] }),
    ['edges[0]: leads from a step to itself'],
  ],
  [
    'an edge twice',
    workflow([callback('a'), callback('b')], { edges: [edge('a', 'b'), edge('a', 'b', { condition: 'true' })] }),
    ['edges[1]: repeats edges[0]'],
  ],
  [
    'keys without limits, and limits without keys',
    workflow(
      [
        callback('a', {
          concurrency: [{ key: 'input.a', limit: 1_000_001 }, { limit: 0 }],
          rate_limit: { limit: 1, key: '1 +' },
        }),
      ],
      {
        concurrency: [{ key: 'steps.a.output', limit: 1 }],
      },
    ),
    [
      'concurrency[0].key: steps.a is no step of this definition',
      'steps[0].concurrency[0].limit: is not a whole number from 1 to 1000000',
      'steps[0].concurrency[1].key: is missing',
      'steps[0].concurrency[1].limit: is not a whole number from 1 to 1000000',
      'steps[0].rate_limit.key: it ends too early (line 1, column 4)',
      'steps[0].rate_limit.per: is missing',
    ],
  ],
  [
    'updates that no step can take',
    workflow(
      [
        callback('a'),
        { ref: 'b', type: 'STEP_TYPE_SIGNAL', args: { name: 'other', schema: {} } },
        { ref: 'c', type: 'STEP_TYPE_WAIT', args: { duration: '1s' } },
        { ref: 'd', type: 'STEP_TYPE_SIGNAL' },
      ],
      {
        updates: [
          { name: 'one', handled_by: 'z', validate: 'steps.z.output' },
          { name: 'one', handled_by: 'c' },
          { name: 'd', handled_by: 'b', extra: 1 },
          { name: 'four', handled_by: 'b', output: 'steps.y.output' },
          { name: 'not a name' },
        ],
      },
    ),
    [
      'updates[1].name: is the name of an earlier update',
      'updates[2].extra: is not a field of an update',
      'updates[3].handled_by: takes an earlier update',
      'updates[4].name: must be a name of letters, digits, "_", "-", ".", "/" and ":", at most 128',
      'updates[4].handled_by: is missing',
      'updates[0].handled_by: is no step',
      'updates[0].validate: steps.z is no step of this definition',
      'updates[1].handled_by: is a STEP_TYPE_WAIT, which takes no update',
      'steps[1].args.name: differs from the name of the update that the step takes (updates[2])',
      'steps[1].args.schema: belongs to the update (updates[2])',
      'updates[2].name: is the signal of step d too',
    ],
  ],
  [
    'queries that compute nothing, and an update read where there is none',
    workflow([callback('a', { input: 'update' })], { queries: { 'a b': 'input', n: 1, m: 'steps.z.output' } }),
    [
      /^steps\[0\]\.input: .*update/,
      'queries["a b"]: must be a name of letters, digits, "_", "-", ".", "/" and ":", at most 128',
      'queries.n: is no CEL expression',
      'queries.m: steps.z is no step of this definition',
    ],
  ],
  [
    'a retry that makes no sense',
    workflow([
      callback('a', {
        retry: { initial_interval: '2m', max_interval: '1m', jitter: 2, backoff: '2', non_retryable: ['', 5] },
      }),
    ]),
    [
      'steps[0].retry.backoff: is a string, not a number from 1 to 100',
      'steps[0].retry.jitter: is not a number from 0 to 1',
      'steps[0].retry.max_interval: is shorter than initial_interval',
      'steps[0].retry.non_retryable[0]: is not a text of 1 to 128 characters',
      'steps[0].retry.non_retryable[1]: is not a text of 1 to 128 characters',
    ],
  ],
  [
    'timeouts out of bounds',
    workflow([callback('a', { timeout: '0s', cancel_timeout: '2d' })]),
    ['steps[0].timeout: is shorter than 1ms', 'steps[0].cancel_timeout: is longer than 1d'],
  ],
  [
    'names with spaces',
    workflow([callback('a', { queue: 'my queue', args: { handler: 'my handler' } })]),
    [/^steps\[0\]\.queue: is not a name/, /^steps\[0\]\.args\.handler: is not a name/],
  ],
  [
    'a computed handler',
    workflow([callback('a', { args: { handler: { expr: 'input.h' } } })]),
    [/^steps\[0\]\.args\.handler: cannot be computed/],
  ],
  [
    'options without effect',
    workflow([
      { ref: 'w', type: 'STEP_TYPE_WAIT', args: { duration: '1s' }, retry: { max_attempts: 1 }, input: 'input' },
    ]),
    ['steps[0].input: has no effect on STEP_TYPE_WAIT', 'steps[0].retry: has no effect on STEP_TYPE_WAIT'],
  ],
  [
    'a wait for both',
    workflow([{ ref: 'w', type: 'STEP_TYPE_WAIT', args: { duration: '1s', until: 'input.at' } }]),
    ['steps[0].args: says duration and until'],
  ],
  [
    'a wait for a slot',
    workflow([{ ref: 'w', type: 'STEP_TYPE_WAIT', args: { schedule: 'daily' } }]),
    ['steps[0].args.schedule: is a string, not an object'],
  ],
  [
    'a wait for a slot that never comes, in no zone',
    workflow([{ ref: 'w', type: 'STEP_TYPE_WAIT', args: { schedule: { cron: '0 0 31 2 *', time_zone: 'Mars' } } }]),
    [
      'steps[0].args.schedule.cron: never comes: there is no such day',
      'steps[0].args.schedule.time_zone: is no time zone that this engine knows',
    ],
  ],
  [
    'a computed slot, and one of later versions',
    workflow([
      { ref: 'w', type: 'STEP_TYPE_WAIT', args: { schedule: { cron: { expr: 'input.c' }, slug: 'nightly' } } },
    ]),
    [
      'steps[0].args.schedule.slug: is not a field of it',
      'steps[0].args.schedule.cron: cannot be computed: it is part of the definition',
      'steps[0].args.schedule.time_zone: is missing',
    ],
  ],
  [
    'a wait that is no duration',
    workflow([{ ref: 'w', type: 'STEP_TYPE_WAIT', args: { duration: 'soon' } }]),
    ['steps[0].args.duration: is not a duration'],
  ],
  [
    'a wait of a number',
    workflow([{ ref: 'w', type: 'STEP_TYPE_WAIT', args: { duration: 5 } }]),
    ['steps[0].args.duration: is a number, not a duration'],
  ],
  [
    'a condition that is no bool',
    workflow([callback('a'), callback('b')], { edges: [edge('a', 'b', { condition: '1 + 1' })] }),
    [/^edges\[0\]\.condition: .*bool.*line 1, column 1/],
  ],
  [
    'an operation that is not known',
    workflow([{ ref: 'd', type: 'STEP_TYPE_DATAFLOW', args: { operation: 'fliter', source: 'input' } }]),
    ['steps[0].args.operation: is no operation of a DATAFLOW step'],
  ],
  ['no operation', workflow([{ ref: 'd', type: 'STEP_TYPE_DATAFLOW' }]), ['steps[0].args.operation: is missing']],
  [
    'a field of another operation',
    workflow([{ ref: 'd', type: 'STEP_TYPE_DATAFLOW', args: { operation: 'map', source: 'input', filter: 'true' } }]),
    ['steps[0].args.filter: is not a field of the args of STEP_TYPE_DATAFLOW', 'steps[0].args.map: is missing'],
  ],
  [
    'two functions in one aggregate',
    workflow([
      {
        ref: 'd',
        type: 'STEP_TYPE_DATAFLOW',
        args: {
          operation: 'aggregate',
          source: 'input',
          aggregate: { a: { sum: 'item', max: 'item' }, group: { count: true } },
          group_by: 'item',
        },
      },
    ]),
    [
      /^steps\[0\]\.args\.aggregate\.a: does not have exactly one of count/,
      'steps[0].args.aggregate.group: is the name of the key of a group',
    ],
  ],
  [
    'fields of the wrong kind',
    workflow([
      callback('a', { retry: [], args: 5, queue: 7 }),
      { ref: 'b', type: 'STEP_TYPE_DATAFLOW', args: { operation: 'sort', source: ['x'], sort: 'item' } },
      { ref: 'c', type: 'STEP_TYPE_DATAFLOW', args: { operation: 'sort', source: 'input', sort: [5, {}] } },
      { ref: 'd', type: 'STEP_TYPE_DATAFLOW', args: { operation: 'aggregate', source: 'input', aggregate: [] } },
      { ref: 'e', type: 'STEP_TYPE_DATAFLOW', args: { operation: 'merge', merge: [], mode: 'shalow' } },
      { ref: 'f', type: 'STEP_TYPE_DATAFLOW', args: { operation: { expr: 'input' } } },
      { ref: 'g', type: 'STEP_TYPE_DATAFLOW', args: { operation: 'aggregate', source: 'input', aggregate: {} } },
      {
        ref: 'h',
        type: 'STEP_TYPE_DATAFLOW',
        args: { operation: 'aggregate', source: 'input', aggregate: { n: 'x' } },
      },
      { ref: 'i', type: 'STEP_TYPE_DATAFLOW', args: { operation: 'filter', source: 'input', filter: 5 } },
    ]),
    [
      'steps[0].args: is a number, not an object',
      'steps[0].retry: is a list, not an object',
      'steps[0].queue: is a number, not a string',
      'steps[1].args.source: is a list, not a CEL expression',
      'steps[1].args.sort: is a string, not a list',
      'steps[2].args.sort[0]: is a number, not an object',
      'steps[2].args.sort[1].by: is missing',
      'steps[3].args.aggregate: is a list, not an object',
      'steps[4].args.merge: is empty',
      'steps[4].args.mode: is none of shallow, deep, concat',
      'steps[5].args.operation: is no operation of a DATAFLOW step',
      'steps[6].args.aggregate: is empty',
      'steps[7].args.aggregate.n: is a string, not an object',
      'steps[8].args.filter: is a number, not a CEL expression',
    ],
  ],
  [
    'too many codes',
    workflow([callback('a', { retry: { non_retryable: Array.from({ length: 101 }, () => 'x') } })]),
    ['steps[0].retry.non_retryable: has more than 100 codes'],
  ],
  [
    'lists that are none',
    workflow('x', { edges: 5 }),
    ['steps: is a string, not a list', 'edges: is a number, not a list'],
  ],
  [
    'an input schema that is none',
    workflow([callback('a')], { input_schema: [] }),
    ['input_schema: is a list, not an object'],
  ],
  [
    'item outside of a list',
    workflow([callback('a', { input: 'item' })]),
    [/^steps\[0\]\.input: .*item.*line 1, column 1/],
  ],
];
