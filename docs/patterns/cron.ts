/** A nightly report in the local time of its readers, one at a time: the next waits for the end of the one before. */
import { defineWorkflow, type DuctorClient } from '@ductor/sdk';
import { z } from 'zod';

/** Makes the report of a region. */
export type MakeReport = (region: string) => Promise<{ rows: number }>;

export const report = (make: MakeReport) =>
  defineWorkflow({
    slug: 'nightly-report',
    input: z.object({ region: z.string() }),
    build: (w) => w.step('make', { input: w.input.region, timeout: '2h', run: make }).output,
  });

/** Has it made every night. Safe to call at each start of the app: the schedule has a slug of its own. */
export async function everyNight(client: DuctorClient, workflow: ReturnType<typeof report>, expression = '30 2 * * *') {
  const schedule = {
    slug: 'nightly-report-west',
    workflow,
    input: { region: 'west' },
    times: { cron: { expression, timeZone: 'America/Los_Angeles' } },
    // One slot may wait; further ones are skipped, and say so.
    overlap: 'BUFFER_ONE',
    // After an outage: the latest report is enough.
    catchUp: { policy: 'LATEST' },
  } as const;
  const known = await client.schedules.get(schedule.slug).catch(() => undefined);
  return known ?? (await client.schedules.create(schedule));
}
