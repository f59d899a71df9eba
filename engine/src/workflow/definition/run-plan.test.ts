/** Compiled definitions in the real machine: the two rooms agree on what a plan is. */
import { describe, expect, it } from 'vitest';
import { createCelCompiler } from '../../expressions/index.js';
import { advance, emptyRun, runOutput, type AttemptOutcome, type Plan, type RunState } from '../machine/index.js';
import { jsonValue, type Value } from '../machine/value.js';
import { compilePlan, validateDefinition } from './index.js';

const cel = createCelCompiler();
const START_US = 1_700_000_000_000_000;

function planOf(json: unknown): Plan {
  const { definition, problems } = validateDefinition(json, cel);
  expect(problems).toEqual([]);
  return compilePlan(definition ?? { family_slug: '', steps: [] }, 1, cel);
}

function parsed(value: Value | null): unknown {
  return value === null ? undefined : JSON.parse(Buffer.from(value.data).toString('utf8'));
}

/** Runs a plan to its end: answers every attempt, lets a minute pass whenever nothing else happens. */
function run(plan: Plan, input: unknown, answer: (ref: string) => AttemptOutcome): RunState {
  let nowUs = START_US;
  const context = { seed: 1, newId: () => '00000000-0000-7000-8000-000000000000' };
  const key = { tenantId: 't', runId: '00000000-0000-7000-8000-000000000001' };
  let result = advance(plan, emptyRun(key), [{ kind: 'start', input: jsonValue(input), attributes: {} }], {
    ...context,
    nowUs,
  });
  for (let ticks = 0; result.state.closedAtUs === null && ticks < 50; ticks += 1) {
    const results = result.commands.flatMap((command) =>
      command.kind === 'dispatch' ? [{ ...command, kind: 'result' as const, outcome: answer(command.path) }] : [],
    );
    nowUs += 60_000_000;
    result = advance(plan, result.state, results.length > 0 ? results : [{ kind: 'wake' }], { ...context, nowUs });
  }
  return result.state;
}

const completed = (output: unknown): AttemptOutcome => ({ kind: 'completed', output: jsonValue(output) });
const failed: AttemptOutcome = {
  kind: 'failed',
  code: 'BadLead',
  message: 'no',
  stack: '',
  nonRetryable: false,
  retryAfterMs: null,
};

const LEADS = {
  family_slug: 'leads',
  steps: [
    {
      ref: 'good',
      type: 'STEP_TYPE_DATAFLOW',
      args: { operation: 'filter', source: 'input.leads', filter: 'item.score > 0.5' },
    },
    { ref: 'pause', type: 'STEP_TYPE_WAIT', args: { duration: '2s' } },
    { ref: 'post', type: 'STEP_TYPE_CALLBACK', input: 'steps.good.output', retry: { non_retryable: ['BadLead'] } },
    { ref: 'sorry', type: 'STEP_TYPE_CALLBACK', input: { code: 'steps.post.error.code' } },
  ],
  edges: [
    { source_ref: 'good', target_ref: 'pause', type: 'EDGE_TYPE_SUCCESS', condition: 'steps.good.output.size() > 0' },
    { source_ref: 'pause', target_ref: 'post', type: 'EDGE_TYPE_SUCCESS' },
    { source_ref: 'post', target_ref: 'sorry', type: 'EDGE_TYPE_FAILURE' },
  ],
  output: {
    posted: 'has(steps.post.output) ? steps.post.output : null',
    sorry: 'has(steps.sorry.output)',
    by: 'run.family_slug',
  },
};

describe('a compiled definition in the machine', () => {
  const plan = planOf(LEADS);

  it('completes', () => {
    const state = run(plan, { leads: [{ score: 0.9 }, { score: 0.1 }] }, (ref) => completed(`did ${ref}`));
    expect(state.status).toBe('COMPLETED');
    expect(parsed(runOutput(state))).toEqual({ posted: 'did post', sorry: false, by: 'leads' });
    expect(parsed(state.steps.get('good')?.output ?? null)).toEqual([{ score: 0.9 }]);
    expect(state.steps.get('sorry')?.status).toBe('SKIPPED');
  });

  it('takes the edge of a failure', () => {
    const state = run(plan, { leads: [{ score: 0.9 }] }, (ref) => (ref === 'post' ? failed : completed(1)));
    expect(state.status).toBe('COMPLETED');
    expect(parsed(runOutput(state))).toEqual({ posted: null, sorry: true, by: 'leads' });
    expect(state.steps.get('post')).toMatchObject({ status: 'FAILED', attempt: 1 });
  });

  it('skips what a condition leaves out', () => {
    const state = run(plan, { leads: [] }, () => failed);
    expect(state.status).toBe('COMPLETED');
    expect(state.steps.get('pause')?.status).toBe('SKIPPED');
    expect(parsed(runOutput(state))).toEqual({ posted: null, sorry: false, by: 'leads' });
  });

  it('fails the step whose expression fails, naming the field', () => {
    const state = run(plan, { leads: [{}] }, () => failed);
    expect(state.status).toBe('FAILED');
    expect(state.steps.get('good')?.error).toMatchObject({ code: 'expression_failed', step: 'good' });
    expect(state.steps.get('good')?.error?.message).toMatch(/item 0: args\.filter/);
  });

  it('fails a run by an assertion, with its code and message', () => {
    const args = { operation: 'assert', assert: [{ that: 'input.ok', message: 'not ok' }] };
    const state = run(
      planOf({ family_slug: 'a', steps: [{ ref: 'a', type: 'STEP_TYPE_DATAFLOW', args }] }),
      { ok: false },
      () => failed,
    );
    expect(state.error).toMatchObject({ code: 'assertion_failed', step: 'a' });
    expect(state.error?.message).toContain('not ok');
  });
});
