/** The examples of docs/workflows.md, and that its tables name every field. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createCelCompiler } from '../../expressions/index.js';
import type { Json } from './definition.js';
import { compilePlan, validateDefinition } from './index.js';
import { DATAFLOW, OPERATIONS } from './step-types/dataflow/dataflow.js';
import { STEP_TYPES } from './step-types/index.js';

const cel = createCelCompiler();
const text = readFileSync(new URL('../../../../docs/workflows.md', import.meta.url), 'utf8');

/** The JSON of all blocks of a kind. */
function blocks(kind: string): readonly string[] {
  return [...text.matchAll(/^```json (\w+)\n([^]*?)^```$/gm)].flatMap(([, found, json = '']) =>
    found === kind ? [json] : [],
  );
}

describe('docs/workflows.md', () => {
  const definitions = blocks('definition');
  const transforms = blocks('dataflow');

  it('has no block of JSON that is not run', () => {
    const all = [...text.matchAll(/^```json/gm)].length;
    expect(definitions.length + transforms.length).toBe(all);
    expect(definitions.length).toBeGreaterThanOrEqual(3);
  });

  it.each(definitions)('shows a definition that is valid and compiles: %#', (json) => {
    const { definition, problems } = validateDefinition(JSON.parse(json), cel);
    expect(problems).toEqual([]);
    const plan = definition === undefined ? undefined : compilePlan(definition, 1, cel);
    expect(plan?.steps.length).toBeGreaterThan(0);
  });

  it('shows the example of the introduction as it stands there', () => {
    expect(JSON.parse(definitions[0] ?? '')).toEqual({
      family_slug: 'hello-world',
      title: 'Hello World',
      steps: [
        {
          ref: 'greet',
          type: 'STEP_TYPE_DATAFLOW',
          title: 'Build greeting',
          args: { operation: 'project', project: { message: '"hello"' } },
        },
        { ref: 'pause', type: 'STEP_TYPE_WAIT', title: 'Short delay', args: { duration: '2s' } },
      ],
      edges: [{ source_ref: 'greet', target_ref: 'pause', type: 'EDGE_TYPE_SUCCESS' }],
    });
  });

  it.each(transforms)('shows a transform with its output: %#', (json) => {
    const example: { args: { [key: string]: Json }; input: Json; output: Json } = JSON.parse(json);
    const step = { ref: 'd', type: 'STEP_TYPE_DATAFLOW', args: example.args };
    expect(validateDefinition({ family_slug: 'f', steps: [step] }, cel).problems).toEqual([]);
    const action = DATAFLOW.compile(step, cel, () => expect.fail('no body'));
    const scope = { input: () => example.input, stepOutput: () => undefined, stepError: () => undefined, run: {} };
    expect(action.type === 'DATAFLOW' && action.transform(scope)).toEqual(example.output);
  });

  it('has an example of every operation, and names every field of every type', () => {
    const shown = transforms.map((json) => JSON.parse(json).args.operation);
    expect(new Set(shown)).toEqual(new Set(OPERATIONS.keys()));
    for (const { fields } of OPERATIONS.values()) {
      for (const name of Object.keys(fields)) expect(text).toMatch(new RegExp(`\\b${name}\\b`));
    }
    for (const [name, type] of STEP_TYPES) {
      expect(text).toContain(`### ${name}`);
      for (const option of type.options) expect(text).toContain(`| \`${option}\``);
    }
  });
});
