/** Calls of an API that allows so many a second, and so many at a time, whoever calls it: all runs share both. */
import { defineWorkflow } from '@ductor/sdk';
import { z } from 'zod';

/** Asks the API for the address of a place. */
export type Geocode = (place: string) => Promise<string>;

export const geocoding = (geocode: Geocode) =>
  defineWorkflow({
    slug: 'geocoding',
    input: z.object({ place: z.string() }),
    build: (w) =>
      w.step('geocode', {
        input: w.input.place,
        // Who waits for its turn takes no slot of a worker meanwhile.
        rateLimit: { key: 'geocoder', per: '1s', limit: 10 },
        concurrency: [{ key: 'geocoder', limit: 2 }],
        run: geocode,
      }).output,
  });
