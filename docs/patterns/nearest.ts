/** Work goes to the agent who is nearest; who knows where agents are is the app, so that the app chooses. */
import { defineStrategy } from '@ductor/sdk';

/** Minutes that an agent needs to a place now; undefined: cannot get there. */
export type MinutesTo = (agent: string, place: string, signal: AbortSignal) => Promise<number | undefined>;

export const nearestAgent = (minutesTo: MinutesTo) =>
  defineStrategy({
    name: 'nearest-agent',
    async choose({ work, candidates, signal }) {
      const place = String(work.attributes['place']);
      const ways = await Promise.all(
        candidates.map(async (agent) => ({ agent, minutes: await minutesTo(agent.name, place, signal) })),
      );
      // Whoever cannot get there is left out; the best comes first.
      return ways
        .flatMap(({ agent, minutes }) => (minutes === undefined ? [] : [{ agent, minutes }]))
        .toSorted((a, b) => a.minutes - b.minutes)
        .map(({ agent }) => agent);
    },
  });
