/**
 * The demo: leads go through the app while engine and worker are killed; the ledger tells whether anything was lost or
 * done twice. Every claim it prints was measured in this run.
 */
import { installExample, packSdk, reachable } from '../support/packed-app.js';
import { type Delivery, deliver } from './deliver.js';
import { type Kill, killInMidRun, openAt } from './kills.js';
import { type DemoLead, demoLeads, expectedEffects } from './leads.js';
import { type LedgerLine, objections, withDouble, withoutOne, withRepeatedKey } from './ledger-check.js';
import { type Show, seconds } from './show.js';
import { Stage } from './stage.js';

const LEADS = 50;
const FIRST_WAVE = 20;
const SECOND_WAVE = 35;
/** Runs that must be open at a kill, or it was none in mid-run. */
const OPEN_AT_KILL_MIN = 5;
/** What the app must not be able to import: the engine, and its database driver. */
const FORBIDDEN = ['@ductor/engine', 'pg'];

/** How the demo is run. */
export interface DemoOptions {
  /** Adds a second effect to the ledger of the real run, which must turn it red. */
  readonly plantDouble: boolean;
}

/** What happened on stage. */
interface Act {
  readonly deliveries: readonly Delivery[];
  readonly kills: readonly Kill[];
}

/** Runs the demo. Returns everything that is wrong; empty when all is well. */
export async function runDemo(show: Show, { plantDouble }: DemoOptions): Promise<readonly string[]> {
  const app = installExample(packSdk());
  const reached = reachable(app, FORBIDDEN);
  if (reached.length > 0) return [`the app can import ${reached.join(', ')}, which is no part of the SDK`];
  show.line(`example app installed from the packed SDK; ${FORBIDDEN.join(' and ')} are out of its reach`);

  const stage = await Stage.open(app);
  show.line(`engine ready at ${stage.engine.address} with an embedded PostgreSQL (${seconds(stage.engine.readyMs)})`);
  await Promise.all([stage.startWorker(), stage.startApi()]);
  show.line(`worker connected; the app takes leads at ${stage.apiAddress}/leads`);

  const leads = demoLeads(LEADS);
  const { deliveries, kills } = await act(stage, show, leads);
  const unfinished = await outcomes(stage, show, deliveries);
  const open = await Promise.all(kills.map((kill) => openAt(stage, kill)));
  if (plantDouble) {
    stage.world.plantDouble();
    show.line('planted: one effect more in the ledger than the runs had');
  }
  const ledger = stage.world.ledger();
  summary(stage, show, { deliveries, kills }, open);
  await stage.close();
  return [
    ...unfinished,
    ...beside(kills, open),
    ...objections(ledger, expectedEffects(leads)),
    ...weakness(show, ledger, leads),
  ];
}

/** Leads come in three waves, the second while the engine is down; something is killed in each. */
async function act(stage: Stage, show: Show, leads: readonly DemoLead[]): Promise<Act> {
  const deliveries: Promise<Delivery>[] = [];
  const post = (from: number, to: number): void => {
    const own = leads.slice(from, to).map((lead) => deliver(stage.apiAddress, lead));
    // Awaited below; when a kill goes wrong first, nobody is there to hear that a post failed as well.
    for (const delivery of own) delivery.catch(() => undefined);
    deliveries.push(...own);
    show.line(`${own.length} leads posted${from === FIRST_WAVE ? ' while the engine is down' : ''}`);
  };
  const kill = (what: Kill['what'], bodies: number, meanwhile: () => void): Promise<Kill> =>
    killInMidRun(stage, show, { what, afterBodies: stage.world.bodies().begun + bodies, meanwhile });

  post(0, FIRST_WAVE);
  const first = await kill('engine', 10, () => post(FIRST_WAVE, SECOND_WAVE));
  const second = await kill('worker', 5, () => undefined);
  await Promise.all(deliveries);
  post(SECOND_WAVE, LEADS);
  const third = await kill('engine', 8, () => undefined);
  return { deliveries: await Promise.all(deliveries), kills: [first, second, third] };
}

/** Waits for all runs. Returns what did not complete. */
async function outcomes(stage: Stage, show: Show, deliveries: readonly Delivery[]): Promise<readonly string[]> {
  const wrong: string[] = [];
  await Promise.all(
    deliveries.map(async ({ lead, runId }) => {
      try {
        await stage.client.run(runId).result({ timeoutMs: 30_000 });
      } catch (error) {
        wrong.push(`the run of ${lead.id} did not complete: ${error instanceof Error ? error.message : String(error)}`);
      }
    }),
  );
  const runs = new Set(deliveries.map(({ runId }) => runId)).size;
  if (runs !== LEADS) wrong.push(`${LEADS} leads have ${runs} runs`);
  const completed = LEADS - wrong.length;
  (wrong.length === 0 ? show.good : show.bad)(`${completed} of ${LEADS} runs COMPLETED`);
  return wrong;
}

/** Kills that did not land in mid-run. */
function beside(kills: readonly Kill[], open: readonly number[]): readonly string[] {
  return kills.flatMap(({ what }, index) => {
    const met = open[index] ?? 0;
    if (met >= OPEN_AT_KILL_MIN) return [];
    return [`kill ${index + 1} (${what}) met ${met} open runs; it proves something from ${OPEN_AT_KILL_MIN} on`];
  });
}

/** The checker must see what it is there to see: returns which planted fault it missed. */
function weakness(show: Show, ledger: readonly LedgerLine[], leads: readonly DemoLead[]): readonly string[] {
  const expected = expectedEffects(leads);
  const planted = { double: withDouble(ledger), 'repeated key': withRepeatedKey(ledger), gap: withoutOne(ledger) };
  const before = new Set(objections(ledger, expected));
  const missed = Object.entries(planted).filter(([, copy]) =>
    objections(copy, expected).every((each) => before.has(each)),
  );
  if (missed.length === 0) show.good('the checker turns red on a copy with a planted double, repeated key or gap');
  return missed.map(([name]) => `the checker does not see a planted ${name}`);
}

function summary(stage: Stage, show: Show, { deliveries, kills }: Act, open: readonly number[]): void {
  const { begun, repeated, retried } = stage.world.bodies();
  const ledger = stage.world.ledger();
  const posts = deliveries.reduce((sum, delivery) => sum + delivery.posts, 0);
  const rows: (readonly [string, string])[] = [
    ['leads', `${deliveries.length} taken in ${posts} posts (503 while the engine was down, then posted again)`],
    ['bodies begun', `${begun}: ${retried} tried again after a failure, ${repeated} repeated because of the kills`],
    ['effects accepted', `${ledger.length} under ${new Set(ledger.map(({ key }) => key)).size} idempotency keys`],
    ...kills.map(({ what, downMs, resumedMs }, index): readonly [string, string] => [
      `${what} killed`,
      `with ${open[index]} runs open; down ${seconds(downMs)}, next body after ${seconds(resumedMs)}`,
    ]),
  ];
  show.plain('');
  for (const [name, value] of rows) show.plain(`  ${name.padEnd(18)}${value}`);
  show.plain('');
}
