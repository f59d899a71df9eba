import { describe, expect, it } from 'vitest';
import { clusterSecret, seededRandom } from '../../kernel/index.js';
import { tenantId } from '../testing/tasks.js';
import { PASS_MS, relayPasses, type RelayPasses } from './pass.js';

const [SENDER, RECEIVER] = ['00000000-0000-7000-8000-00000000000a', '00000000-0000-7000-8000-00000000000b'];
const facts = { tenantId: tenantId(1), sender: SENDER, receiver: RECEIVER };
const NOW_US = 1_800_000_000_000_000;
const made = (secret: string, before?: string): RelayPasses =>
  relayPasses(clusterSecret(secret, before), seededRandom(7));
const [OLD, NEW] = ['the old secret, 32 bytes or longer', 'the new secret, 32 bytes or longer'];

/** The same pass with one of its parts changed. */
function changed(pass: string, at: number, value: string): string {
  return pass
    .split('.')
    .map((part, index) => (index === at ? value : part))
    .join('.');
}

describe('a pass', () => {
  it('says who is let in for whom, once', () => {
    const passes = made(NEW);
    const pass = passes.issue(facts, NOW_US);
    expect(passes.check(pass, RECEIVER, NOW_US + 1_000)).toEqual(facts);
    expect(() => passes.check(pass, RECEIVER, NOW_US + 2_000)).toThrow(/shown before/);
    expect(passes.check(passes.issue(facts, NOW_US), RECEIVER, NOW_US)).toEqual(facts);
  });

  it('is refused when any part of it is another one', () => {
    const passes = made(NEW);
    const pass = passes.issue(facts, NOW_US);
    const others = [tenantId(2), RECEIVER, SENDER, String(NOW_US + 1), '0'.repeat(32), '0'.repeat(64)];
    for (const [at, value] of others.entries()) {
      expect(() => passes.check(changed(pass, at, value), RECEIVER, NOW_US)).toThrow(/is not genuine/);
    }
    expect(() => passes.check(made(OLD).issue(facts, NOW_US), RECEIVER, NOW_US)).toThrow(/is not genuine/);
  });

  it('is refused where there is none, or nothing of its form', () => {
    const passes = made(NEW);
    for (const text of ['', 'x', '.....', `${passes.issue(facts, NOW_US)}.more`, 'a'.repeat(100_000)]) {
      expect(() => passes.check(text, RECEIVER, NOW_US)).toThrow(/has not its form/);
    }
    expect(() => passes.check(undefined, RECEIVER, NOW_US)).toThrow(/is missing/);
  });

  it('counts for its node alone, and for no node that is no member', () => {
    const passes = made(NEW);
    const pass = passes.issue(facts, NOW_US);
    expect(() => passes.check(pass, SENDER, NOW_US)).toThrow(/another node/);
    expect(() => passes.check(pass, null, NOW_US)).toThrow(/another node/);
  });

  it('counts around its time alone; what was shown is remembered for as long', () => {
    const passes = made(NEW);
    const windowUs = PASS_MS * 1_000;
    const [early, late] = [passes.issue(facts, NOW_US + windowUs), passes.issue(facts, NOW_US)];
    expect(() => passes.check(late, RECEIVER, NOW_US + windowUs + 1)).toThrow(/is not of now/);
    expect(() => passes.check(early, RECEIVER, NOW_US - 1)).toThrow(/is not of now/);
    expect(passes.check(early, RECEIVER, NOW_US)).toEqual(facts);
    expect(() => passes.check(early, RECEIVER, NOW_US + 2 * windowUs)).toThrow(/shown before/);
  });

  it('of the previous secret counts during a rotation', () => {
    expect(made(NEW, OLD).check(made(OLD).issue(facts, NOW_US), RECEIVER, NOW_US)).toEqual(facts);
  });
});
