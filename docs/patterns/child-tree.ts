/** An order is a family of runs: one for each shipment, one for each of its parcels. A cancel reaches them all. */
import { defineWorkflow } from '@ductor/sdk';
import { z } from 'zod';

/** Packs a parcel; takes apart what it began when told to stop. */
export type PackParcel = (parcel: string, signal: AbortSignal) => Promise<{ label: string }>;

export function orderTree(pack: PackParcel) {
  const parcel = defineWorkflow({
    slug: 'parcel',
    input: z.object({ parcel: z.string() }),
    build: (w) =>
      w.step('pack', {
        input: w.input.parcel,
        timeout: '1h',
        run: (name, { signal }) => pack(name, signal),
      }).output,
  });
  const shipment = defineWorkflow({
    slug: 'shipment',
    input: z.object({ parcels: z.array(z.string()) }),
    build: (w) => ({
      labels: w.forEach('parcel', w.input.parcels, (name) => w.child('run', parcel, { input: { parcel: name } }))
        .output,
    }),
  });
  const order = defineWorkflow({
    slug: 'order',
    input: z.object({ shipments: z.array(z.object({ parcels: z.array(z.string()) })) }),
    build: (w) => ({
      shipments: w.forEach('shipment', w.input.shipments, (each) => w.child('ship', shipment, { input: each })).output,
    }),
  });
  return { order, shipment, parcel };
}
