/** A trip is booked piece by piece; when a piece cannot be had, what was booked is given back, the last first. */
import { defineWorkflow, NonRetryableError } from '@ductor/sdk';
import { z } from 'zod';

/** What the workflow needs of the world; each call carries a key, so that a repeated one books nothing twice. */
export interface TripServices {
  bookFlight(to: string, key: string): Promise<{ flight: string }>;
  bookHotel(to: string, key: string): Promise<{ hotel: string }>;
  /** Whether the card was charged. */
  charge(cents: number, key: string): Promise<boolean>;
  cancel(booking: string, key: string): Promise<void>;
}

export const bookTrip = (services: TripServices) =>
  defineWorkflow({
    slug: 'book-trip',
    input: z.object({ to: z.string(), cents: z.number() }),
    build(w) {
      const flight = w.step('flight', {
        input: w.input.to,
        run: (to, { idempotencyKey }) => services.bookFlight(to, idempotencyKey),
        compensate: ({ flight: booking }, { idempotencyKey }) => services.cancel(booking, idempotencyKey),
      });
      const hotel = w.step('hotel', {
        after: flight,
        input: w.input.to,
        run: (to, { idempotencyKey }) => services.bookHotel(to, idempotencyKey),
        // Nobody waits for it, so it may try for long.
        compensate: {
          retry: { maxAttempts: 20, initialInterval: '1s', maxInterval: '1m' },
          run: ({ hotel: booking }, { idempotencyKey }) => services.cancel(booking, idempotencyKey),
        },
      });
      w.step('pay', {
        after: hotel,
        input: w.input.cents,
        async run(cents, { idempotencyKey }) {
          if (!(await services.charge(cents, idempotencyKey))) throw new NonRetryableError('the card was declined');
        },
      });
      return { flight: flight.output.flight, hotel: hotel.output.hotel };
    },
  });
