/** EDGE_TYPE_COMPENSATE: what is refused, and how it compiles. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createCelCompiler } from '../../expressions/index.js';
import { CANCEL, completed, drive, failed, jsonOf, start, statuses } from '../testing/drive.js';
import { compilePlan, validateDefinition } from './index.js';

const cel = createCelCompiler();

const callback = (ref: string, more: object = {}): object => ({ ref, type: 'STEP_TYPE_CALLBACK', ...more });
const pause = { ref: 'pause', type: 'STEP_TYPE_WAIT', args: { duration: '1s' } };
const edge = (source_ref: string, target_ref: string, type = 'SUCCESS', more: object = {}): object => {
  return { source_ref, target_ref, type: `EDGE_TYPE_${type}`, ...more };
};

function found(steps: readonly object[], edges: readonly object[]): readonly string[] {
  const { problems } = validateDefinition({ family_slug: 'trip', steps, edges }, cel);
  return problems.map(({ path, problem }) => `${path}: ${problem}`);
}

describe('a compensation', () => {
  it('is one step of a fitting type for one step, and stands aside', () => {
    const steps = [callback('a'), callback('b'), callback('c'), callback('d'), pause];
    const edges = [
      ...[edge('a', 'b', 'COMPENSATE'), edge('a', 'c', 'COMPENSATE'), edge('d', 'pause', 'COMPENSATE')],
      ...[edge('b', 'd'), edge('d', 'c')],
    ];
    expect(found(steps, edges).toSorted()).toEqual([
      'edges[1]: is a second compensation of a, beside edges[0]',
      'edges[2]: leads to a STEP_TYPE_WAIT, which undoes nothing',
      'edges[3]: leads on from a compensation',
      'edges[4]: leads to the compensation of a',
    ]);
  });

  it('has no join, and none for a step that ends the run', () => {
    const steps = [callback('a'), callback('b', { join: { mode: 'any' } }), { ref: 'end', type: 'STEP_TYPE_COMPLETE' }];
    expect(found(steps, [edge('a', 'b', 'COMPENSATE')])).toEqual(['steps[1].join: has no effect on a compensation']);
    const problem = 'leads on from a STEP_TYPE_COMPLETE, which ends the run';
    expect(found([callback('a'), steps[2] ?? {}], [edge('end', 'a', 'COMPENSATE')])).toEqual([`edges[0]: ${problem}`]);
  });

  it('reads every step but other compensations', () => {
    const steps = [
      ...[callback('a'), callback('b')],
      callback('ua', { input: { why: 'has(steps.b.error) ? steps.b.error.code : null', what: 'steps.a.output' } }),
      callback('ub', { input: 'steps.ua.output' }),
    ];
    const edges = [edge('a', 'b'), edge('a', 'ua', 'COMPENSATE'), edge('b', 'ub', 'COMPENSATE')];
    expect(found(steps, edges)).toEqual(['steps[3].input: steps.ua is not before this step']);
  });

  it('compiles to a step without edges that names what it undoes', () => {
    const steps = [callback('a'), callback('ua')];
    const edges = [edge('a', 'ua', 'COMPENSATE', { condition: 'steps.a.output.paid' })];
    const { definition } = validateDefinition({ family_slug: 'trip', steps, edges }, cel);
    const plan = compilePlan(definition ?? expect.fail('not valid'), 1, cel);
    const undoing = plan.stepByRef.get('ua');
    expect(undoing).toMatchObject({ incoming: [], outgoing: [], compensates: { sourceRef: 'a' } });
    expect(undoing?.compensates?.condition?.reads).toEqual(['a']);
    expect(plan.stepByRef.get('a')).toMatchObject({ outgoing: [], compensates: null });
  });
});

describe('the saga of docs/workflows.md', () => {
  const text = readFileSync(new URL('../../../../docs/workflows.md', import.meta.url), 'utf8');
  const blocks = [...text.matchAll(/^```json definition\n([^]*?)^```$/gm)].map(([, json = '']) => json);
  const saga = blocks.find((json) => json.includes('"book-trip"')) ?? '{}';

  function booked(refundable: boolean) {
    const { definition } = validateDefinition(JSON.parse(saga), cel);
    const run = drive(compilePlan(definition ?? expect.fail('not valid'), 1, cel));
    run.give(start());
    run.give(completed('flight', { booking: 'F1' }));
    run.nowUs += 1000;
    run.give(completed('hotel', { refundable }));
    return run;
  }

  it('gives back the hotel before the flight when the card is declined', () => {
    const run = booked(true);
    run.give(failed('pay', 1, { code: 'CardDeclined' }));
    expect(run.state.compensating).toEqual(['cancel-hotel', 'cancel-flight']);
    run.give(completed('cancel-hotel'));
    const input = run.state.steps.get('cancel-flight')?.input;
    expect(input?.kind === 'value' && jsonOf(input.value)).toEqual({ booking: 'F1', why: 'CardDeclined' });
    run.give(completed('cancel-flight'));
    expect([run.state.status, run.state.error?.code]).toEqual(['FAILED', 'CardDeclined']);
  });

  it('does so for a cancel, and keeps a hotel that is not refunded', () => {
    const run = booked(false);
    run.give(CANCEL);
    run.give(failed('pay'));
    run.give(completed('cancel-flight'));
    expect(run.state.status).toBe('CANCELLED');
    expect(statuses(run.state)).toMatchObject({ 'cancel-hotel': 'SKIPPED', 'cancel-flight': 'COMPLETED' });
  });
});
