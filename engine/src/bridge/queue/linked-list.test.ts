import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LinkedList, listNode } from './linked-list.js';

describe('LinkedList', () => {
  it('does what an array does, for any sequence of calls', () => {
    const calls = fc.array(fc.record({ at: fc.nat(7), call: fc.constantFrom('push', 'delete', 'rotate') }));
    fc.assert(
      fc.property(calls, (sequence) => {
        const nodes = Array.from({ length: 8 }, (_, item) => listNode(item));
        const list = new LinkedList<number>();
        let model: number[] = [];
        for (const { at, call } of sequence) {
          const node = nodes[at] ?? listNode(at);
          const isIn = model.includes(at);
          if (call === 'push') {
            list.push(node);
            if (!isIn) model.push(at);
          } else if (call === 'delete') {
            expect(list.delete(node)).toBe(isIn);
            model = model.filter((item) => item !== at);
          } else {
            list.rotate();
            model = [...model.slice(1), ...model.slice(0, 1)];
          }
          expect([...list]).toEqual(model);
          expect(list.size).toBe(model.length);
          expect(list.first).toBe(model[0]);
        }
      }),
    );
  });

  it('moves a node from one list to another', () => {
    const node = listNode('x');
    const one = new LinkedList<string>();
    const two = new LinkedList<string>();
    one.push(node);
    two.push(node);
    expect([one.size, two.first]).toEqual([0, 'x']);
  });
});
