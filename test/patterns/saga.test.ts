import { describe, expect, it } from 'vitest';
import { bookTrip, type TripServices } from '../../docs/patterns/saga.js';
import { patternWorld } from '../support/pattern-world.js';

const calls: string[] = [];
const keys = new Set<string>();
let cancelsToFail = 0;
const say = (call: string, key: string): void => {
  calls.push(call);
  keys.add(key);
};

const services: TripServices = {
  async bookFlight(to, key) {
    say(`flight to ${to}`, key);
    return { flight: `F-${to}` };
  },
  async bookHotel(to, key) {
    say(`hotel in ${to}`, key);
    return { hotel: `H-${to}` };
  },
  async charge(cents, key) {
    say(`charge ${cents}`, key);
    return cents < 100_000;
  },
  async cancel(booking, key) {
    if (booking.startsWith('H') && cancelsToFail > 0) {
      cancelsToFail -= 1;
      throw new RangeError('the hotel does not answer');
    }
    say(`cancel ${booking}`, key);
  },
};

const trip = bookTrip(services);
const client = await patternWorld([trip]);

describe('the saga', () => {
  it('keeps what it booked when all goes well', async () => {
    const run = await client.trigger(trip, { to: 'Oslo', cents: 50_000 });
    await expect(run.result()).resolves.toEqual({ flight: 'F-Oslo', hotel: 'H-Oslo' });
    expect(calls.splice(0)).toEqual(['flight to Oslo', 'hotel in Oslo', 'charge 50000']);
  });

  it('gives back what it booked when the card is declined, the last first, however often that takes', async () => {
    cancelsToFail = 2;
    const run = await client.trigger(trip, { to: 'Rome', cents: 200_000 });
    await expect(run.result()).rejects.toMatchObject({ state: 'FAILED', step: 'pay' });
    expect(calls.splice(0)).toEqual([
      'flight to Rome',
      'hotel in Rome',
      'charge 200000',
      'cancel H-Rome',
      'cancel F-Rome',
    ]);
    expect(cancelsToFail).toBe(0);
    expect(keys.size).toBe(3 + 5);
  });
});
