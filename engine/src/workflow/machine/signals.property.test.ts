/** What the mailbox promises, over random plans, inputs and times. */
import { describe, expect, it } from 'vitest';
import { check, giveAll, play } from '../testing/play.js';
import { isClosed } from './index.js';
import type { Entry, RunInput } from './index.js';

type Received = Extract<Entry, { readonly kind: 'signal_received' }>;

const keyOf = ({ name, id }: { readonly name: string; readonly id: string }): string => `${name}/${id}`;

describe('signals', () => {
  it('stand in the journal once, whatever else happens to their run', () => {
    let received = 0;
    check((plan, sequence) => {
      const sent = new Set<string>();
      const run = play(plan, sequence, (playing, input: RunInput) => {
        // Whoever sends to a run that is open has been told that it will hear.
        if (input.kind === 'signal' && playing.state.seq > 0 && !isClosed(playing.state)) sent.add(keyOf(input));
        playing.give(input);
      });
      const heard = run.facts.filter((fact): fact is typeof fact & Received => fact.kind === 'signal_received');
      expect(heard.map(keyOf).sort()).toEqual([...sent].sort());
      received += heard.length;
    });
    expect(received).toBeGreaterThan(200);
  });

  it('are taken at most once, of one name in the order in which they came', () => {
    let taken = 0;
    check((plan, sequence) => {
      const run = play(plan, sequence, giveAll);
      const waiting = new Map<string, string[]>();
      for (const fact of run.facts) {
        if (fact.kind === 'signal_received') {
          waiting.set(fact.name, [...(waiting.get(fact.name) ?? []), fact.id]);
        }
        if (fact.kind !== 'signal_taken') continue;
        taken += 1;
        const ids = waiting.get(fact.name) ?? [];
        expect(ids).toContain(fact.id);
        // Of an approval only decisions that count are taken.
        if (fact.output === null) expect(ids[0]).toBe(fact.id);
        waiting.set(
          fact.name,
          ids.filter((id) => id !== fact.id),
        );
      }
      const left = [...waiting].flatMap(([name, ids]) => ids.map((id) => `${name}/${id}`));
      expect((run.state.signals?.waiting ?? []).map(keyOf).sort()).toEqual(left.sort());
    });
    expect(taken).toBeGreaterThan(20);
  });

  it('leave no step of a run that goes on waiting for what is there', () => {
    let looks = 0;
    check((plan, sequence) => {
      play(plan, sequence, (playing, input) => {
        playing.give(input);
        const { state } = playing;
        const goesOn = !isClosed(state) && state.parked === null && state.paused === null && state.error === null;
        if (!goesOn || state.cancel !== null || state.ending !== null) return;
        const names = new Set((state.signals?.waiting ?? []).map(({ name }) => name));
        for (const { awaits } of state.steps.values()) {
          if (!awaits || awaits.approval !== null) continue;
          looks += 1;
          expect(names).not.toContain(awaits.name);
        }
      });
    });
    expect(looks).toBeGreaterThan(100);
  });

  it('of an approval count only from those who may decide', () => {
    check((plan, sequence) => {
      const run = play(plan, sequence, giveAll);
      const may = new Map<string, readonly string[] | null>();
      for (const fact of run.facts) {
        if (fact.kind === 'step_awaiting' && fact.approval !== null) may.set(fact.path, fact.approval.assignees);
        if (fact.kind === 'approval_escalated') {
          const before = may.get(fact.path) ?? null;
          may.set(fact.path, before === null ? null : [...before, 'eve']);
        }
        if (fact.kind !== 'signal_taken' || fact.output === null) continue;
        const decision: unknown = JSON.parse(Buffer.from(fact.output.data).toString('utf8'));
        const assignees = may.get(fact.path) ?? null;
        const who = assignees === null ? '' : assignees.join('|');
        const by = assignees === null ? expect.any(String) : expect.stringMatching(new RegExp(`^(${who})$`));
        expect(decision).toMatchObject({ option: expect.stringMatching(/^(yes|no)$/), by });
      }
    });
  });
});
