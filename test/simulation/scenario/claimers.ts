/** Recipients in wide worlds: they claim work, several the same piece at times, give it back and complete it. */
import type { ClaimItem, ClaimVerb } from '../../../engine/src/claims/index.js';
import { DuctorError } from '../../../engine/src/kernel/index.js';
import type { ClaimCall } from '../../../engine/src/routing/index.js';
import type { Choices } from '../core/choices.js';
import type { World } from './world.js';

const SECOND_US = 1_000_000;
const LOOK_US = 2 * SECOND_US;

function callOf({ tenantId, itemId }: ClaimItem, recipientId: string, verb: ClaimVerb): ClaimCall {
  const by = { tenantId, principalId: 'pond', name: 'pond', scopes: new Set<never>() };
  return { by, method: 'ClaimsService/Act', itemId, recipientId, verb, reason: '' };
}

/** Asks some engine; nobody asks again what was not answered. */
function ask(world: World, choices: Choices, call: ClaimCall): void {
  const engine = choices.pick(world.engines.filter((other) => other.isServing));
  if (engine === undefined) return;
  const { sim } = world;
  sim.scheduler.after(choices.int(100, 4_000), engine.actor, `is asked to ${call.verb} an item`, () => {
    void (async () => {
      try {
        const [result] = await engine.claims.act([call]);
        if (result instanceof DuctorError) {
          if (result.code === 'claim_rescinded') sim.marks.reach('claim_rescinded');
          if (result.message.includes('the team')) sim.marks.reach('team_spent');
        } else if (call.verb === 'claim') sim.marks.reach('claim_won');
        else if (call.verb === 'release') sim.marks.reach('claim_released');
      } catch (error) {
        const { code, message } = DuctorError.from(error);
        if (code !== 'database_unavailable') sim.violate(`${call.verb} of an item: ${code} ${message}`);
      }
    })();
  });
}

function someone({ claimants }: ClaimItem, choices: Choices): string {
  return choices.pick(claimants)?.recipientId ?? '';
}

function items({ server }: World, ...states: readonly string[]): readonly ClaimItem[] {
  return [...server.db.reservations.claims.items.values()].filter(({ state }) => states.includes(state));
}

function act(world: World, choices: Choices): void {
  const item = choices.pick(items(world, 'open', 'open', 'claimed'));
  if (item === undefined) return;
  if (item.state === 'claimed') {
    const verb = choices.oneOf<ClaimVerb>('complete', 'complete', 'release', 'claim');
    return ask(world, choices, callOf(item, item.claimedBy ?? '', verb));
  }
  const verb = choices.chance(0.9) ? 'claim' : 'decline';
  for (let count = choices.oneOf(1, 2, 3); count > 0; count -= 1) {
    ask(world, choices, callOf(item, someone(item, choices), verb));
  }
}

/** Some engine looks at what is due, as each of them does each second. */
function look(world: World, choices: Choices): void {
  const { sim, server } = world;
  const isDue = items(world, 'open').some(({ nextUs }) => nextUs !== null && nextUs <= sim.nowUs);
  const engine = isDue && !server.isDown ? choices.pick(world.engines.filter((other) => other.isServing)) : undefined;
  if (engine !== undefined) {
    sim.scheduler.after(0, engine.actor, 'looks at items', () => void engine.claims.look().catch(() => undefined));
  }
  sim.scheduler.after(LOOK_US, null, 'items may be due', () => look(world, choices));
}

/** Sets them going for as long as things go wrong. */
export function planClaimers(world: World, choices: Choices, untilUs: number): void {
  for (let atUs = choices.int(0, SECOND_US); atUs < untilUs; atUs += choices.int(50_000, 900_000)) {
    world.sim.scheduler.at(atUs, null, 'a recipient has a look at work', () => act(world, choices));
  }
  look(world, choices);
}

/** What waits is claimed and completed in the end. */
export function workOff(world: World, choices: Choices): void {
  for (const item of items(world, 'open', 'claimed')) {
    if (!choices.chance(0.6)) continue;
    const who = item.claimedBy ?? someone(item, choices);
    ask(world, choices, callOf(item, who, item.state === 'open' ? 'claim' : 'complete'));
  }
}
