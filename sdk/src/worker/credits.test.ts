import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CreditLedger } from './credits.js';

/** Applies what a ledger asked for, as an engine would: grants are remembered, revokes are answered later. */
class Engine {
  readonly credits = new Map<string, number>();
  readonly asked = new Map<string, number>();

  apply(ledger: CreditLedger<string>): void {
    for (const { stream, grant, revoke } of ledger.settle()) {
      this.credits.set(stream, (this.credits.get(stream) ?? 0) + grant);
      if (revoke > 0) this.asked.set(stream, revoke);
    }
  }
}

describe('CreditLedger', () => {
  it('shares its slots between the streams that are open', () => {
    const ledger = new CreditLedger<string>(10);
    ledger.open('a');
    ledger.open('b');
    expect(ledger.settle()).toEqual([
      { stream: 'a', grant: 5, revoke: 0 },
      { stream: 'b', grant: 5, revoke: 0 },
    ]);
    expect(ledger.settle()).toEqual([]);
  });

  it('asks a rich stream for half of its unused credits when another has none, once', () => {
    const ledger = new CreditLedger<string>(10);
    ledger.open('a');
    ledger.settle();
    ledger.open('b');
    expect(ledger.settle()).toEqual([{ stream: 'a', grant: 0, revoke: 5 }]);
    expect(ledger.settle()).toEqual([]);
    ledger.revoked('a', 4);
    expect(ledger.settle()).toEqual([{ stream: 'b', grant: 4, revoke: 0 }]);
  });

  it('never lets running tasks and credits exceed the slots, whatever happens (C1)', () => {
    const event = fc.record({
      kind: fc.constantFrom('open', 'close', 'task', 'end', 'revoked'),
      stream: fc.constantFrom('a', 'b', 'c'),
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), fc.array(event, { maxLength: 200 }), (slots, events) => {
        const ledger = new CreditLedger<string>(slots);
        const engine = new Engine();
        for (const { kind, stream } of events) {
          const credits = engine.credits.get(stream) ?? 0;
          if (kind === 'open') ledger.open(stream);
          if (kind === 'close') {
            ledger.close(stream);
            engine.credits.delete(stream);
            engine.asked.delete(stream);
          }
          if (kind === 'task' && credits > 0) {
            ledger.begin(stream);
            engine.credits.set(stream, credits - 1);
          }
          if (kind === 'end' && ledger.running > 0) ledger.end();
          if (kind === 'revoked' && engine.asked.has(stream)) {
            const back = Math.min(credits, engine.asked.get(stream) ?? 0);
            engine.asked.delete(stream);
            engine.credits.set(stream, credits - back);
            ledger.revoked(stream, back);
          }
          engine.apply(ledger);
          const held = [...engine.credits.values()].reduce((sum, value) => sum + value, 0);
          expect(held + ledger.running).toBeLessThanOrEqual(slots);
        }
      }),
      { numRuns: 500 },
    );
  });
});
