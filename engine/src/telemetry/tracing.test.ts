import { afterEach, describe, expect, it } from 'vitest';
import { type RecordingTelemetry, recordTelemetry } from '../../../test/support/recording-telemetry.js';
import { DuctorError } from '../kernel/index.js';
import { normalTraceparent } from './traceparent.js';
import { openTracing } from './tracing.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

describe('normalTraceparent', () => {
  it.each([
    [`00-${TRACE}-${SPAN}-01`, `00-${TRACE}-${SPAN}-01`],
    [`00-${TRACE}-${SPAN}-00`, `00-${TRACE}-${SPAN}-00`],
    [`00-${TRACE}-${SPAN}-ff`, `00-${TRACE}-${SPAN}-01`],
    [`cc-${TRACE}-${SPAN}-01-of-later-days`, `00-${TRACE}-${SPAN}-01`],
  ])('%s is %s', (text, normal) => {
    expect(normalTraceparent(text)).toBe(normal);
  });

  it.each([
    undefined,
    '',
    'nonsense',
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `ff-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01-more`,
    `01-${TRACE}-${SPAN}-01-${'x'.repeat(200)}`,
  ])('%s names no span', (text) => {
    expect(normalTraceparent(text)).toBeUndefined();
  });
});

describe('openTracing', () => {
  let recorded: RecordingTelemetry | undefined;
  afterEach(() => recorded?.disable());

  it('is null where nobody registered a provider', () => {
    expect(openTracing()).toBeNull();
  });

  it('makes spans that follow from others, with facts and failures', () => {
    recorded = recordTelemetry();
    const tracing = openTracing();
    const first = tracing?.begin('first', { parent: `00-${TRACE}-${SPAN}-01`, attributes: { a: 1 } });
    const second = tracing?.begin('second', { parent: first?.traceparent, attributes: {} });
    second?.end(new DuctorError('not_found', 'there is no such thing'));
    second?.end();
    first?.note({ b: 2 });
    first?.end();
    tracing?.record('third', { attributes: {}, startMs: 1, endMs: 2, links: [`00-${TRACE}-${SPAN}-01`, 'nonsense'] });
    const [two, one, three] = recorded.spans;
    expect(recorded.spans).toHaveLength(3);
    expect(one).toMatchObject({
      name: 'first',
      traceId: TRACE,
      parentId: SPAN,
      attributes: { a: 1, b: 2 },
      failed: false,
    });
    expect(two).toMatchObject({ traceId: TRACE, parentId: one?.spanId, failed: true });
    expect(two?.attributes).toEqual({ 'error.type': 'not_found' });
    expect(three).toMatchObject({ parentId: undefined, links: [{ traceId: TRACE, spanId: SPAN }] });
  });
});
