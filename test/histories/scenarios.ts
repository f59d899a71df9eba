/** Runs that the first histories were recorded from: one for each way a run can go. */
import { jsonValue, type RunInput } from '../../engine/src/workflow/machine/index.js';
import {
  CANCEL,
  completed,
  drive,
  failed,
  PAUSE,
  RESUME,
  result,
  RETRY,
  running,
  start,
  TERMINATE,
  WAKE,
  type DrivenRun,
} from '../../engine/src/workflow/testing/drive.js';
import { CLOSED_GATE } from '../../engine/src/workflow/machine/tick.js';
import type { Gate } from '../../engine/src/workflow/machine/inputs.js';
import {
  edge,
  ITEM,
  joinOf,
  outputOf,
  planOf,
  sequence,
  template,
} from '../../engine/src/workflow/testing/plan-builder.js';

/** Tenant of recorded runs. */
export const TENANT_ID = '00000000-0000-7000-8000-000000000001';

const race = planOf({
  steps: {
    ...{ fast: { type: 'CALLBACK' }, slow: { type: 'CALLBACK' }, after: { type: 'CALLBACK' } },
    won: { type: 'CALLBACK', input: outputOf('fast'), join: joinOf(1, true) },
  },
  edges: [edge('fast', 'won'), edge('slow', 'after'), edge('after', 'won')],
});

const ways = planOf({
  steps: {
    ...{ check: { type: 'CALLBACK' }, audit: { type: 'CALLBACK' } },
    pick: { type: 'SWITCH', choose: () => 'usual' },
    large: { type: 'CALLBACK' },
    enough: { type: 'COMPLETE', output: outputOf('check') },
  },
  edges: [
    edge('check', 'pick'),
    edge('pick', 'large', 'SUCCESS', null, 'large'),
    edge('pick', 'enough', 'SUCCESS', null, 'usual'),
  ],
});

const longPoll = planOf({
  steps: {
    ...{ ask: { type: 'CALLBACK' }, beside: { type: 'CALLBACK' } },
    again: { type: 'CONTINUE_AS_NEW', input: outputOf('ask') },
  },
  edges: [edge('ask', 'again')],
  timeoutMs: 60_000,
});

const saga = planOf({
  steps: {
    ...{ flight: { type: 'CALLBACK' }, hotel: { type: 'CALLBACK' } },
    pay: { type: 'FAIL', code: 'no_card', message: () => 'declined' },
    'drop-flight': {
      type: 'CALLBACK',
      input: outputOf('flight'),
      compensates: { sourceRef: 'flight', condition: null },
    },
    'drop-hotel': {
      type: 'CALLBACK',
      input: outputOf('hotel'),
      retry: { maxAttempts: 1 },
      compensates: { sourceRef: 'hotel', condition: null },
    },
  },
  edges: [edge('flight', 'hotel'), edge('hotel', 'pay')],
});

const refusal = planOf({
  steps: { check: { type: 'CALLBACK' }, refuse: { type: 'FAIL', code: 'no_credit', message: () => 'refused' } },
  edges: [edge('check', 'refuse')],
  onFailure: 'cancel',
});

const limited = planOf({
  steps: { slow: { type: 'CALLBACK', scheduleToStartTimeoutMs: 10_000 } },
  timeoutMs: 60_000,
});

const patient = planOf({
  steps: {
    copy: { type: 'CALLBACK', heartbeatTimeoutMs: 1_000, retry: { maxAttempts: 2, totalTimeoutMs: 60_000 } },
  },
  onExhausted: 'park',
});

const market = planOf({
  steps: {
    offer: {
      ...{ type: 'SELECT', pool: 'solar-buyers', slateSize: 2, mode: 'ranked' },
      body: { steps: { post: { type: 'CALLBACK', input: ITEM, retry: { maxAttempts: 1 } } }, output: outputOf('post') },
    },
    full: { type: 'SELECT', pool: 'roof-buyers' },
    desk: { type: 'ROUTE', pool: 'billing-agents' },
  },
  edges: [edge('offer', 'full'), edge('full', 'desk', 'FAILURE')],
});

const recipient = (id: string) => ({ id, name: `buyer ${id}`, external_id: '', type: 'buyer', units: 1 });

/** What two pools and a desk say that are no more than this. */
const MARKET: Gate = {
  ...CLOSED_GATE,
  select({ pool }) {
    if (pool === 'roof-buyers') {
      return { kind: 'refused', code: 'recipient_capacity_exhausted', message: 'there is no room in pool roof-buyers' };
    }
    const recipients = [recipient('one'), recipient('two')];
    const by = { digest: 'ab'.repeat(32), decisionId: '01890a5d-ac96-774b-bcce-b302099a8058' };
    return { kind: 'granted', poolId: '01890a5d-ac96-774b-bcce-b302099a8059', isReused: false, recipients, ...by };
  },
  route: () => ({ kind: 'routed', output: { outcome: 'assigned', assignment_ids: ['a-1'] } }),
};

/** A run to record. */
export interface Scenario {
  readonly name: string;
  readonly about: string;
  readonly play: () => DrivenRun;
}

/** Drives a run: numbers are seconds that pass, the rest are ticks. */
function played(run: DrivenRun, ...story: readonly (number | RunInput | readonly RunInput[])[]): DrivenRun {
  for (const part of story) {
    if (typeof part === 'number') run.nowUs += part * 1_000_000;
    else run.give(...('kind' in part ? [part] : part));
  }
  return run;
}

const lead: RunInput = {
  ...{ kind: 'start', attributes: { region: 'north', source: 'web form' } },
  input: { data: Buffer.from('{"id":"lead-1","state":"NY","amount":61000}'), encoding: 'json' },
};

const helloWorld = planOf({
  steps: {
    greet: { type: 'DATAFLOW', transform: () => ({ message: 'hello' }) },
    pause: { type: 'WAIT', wakeAtUs: (_scope, nowUs) => nowUs + 2_000_000 },
  },
  edges: [edge('greet', 'pause')],
});

const branches = planOf({
  steps: {
    score: { type: 'CALLBACK', retry: { jitter: 0.2 } },
    repair: { type: 'CALLBACK', input: outputOf('score') },
    large: { type: 'CALLBACK', input: template((scope) => ({ from: scope.run['id'], lead: scope.input() })) },
    small: { type: 'CALLBACK' },
    notify: { type: 'CALLBACK', input: outputOf('large') },
  },
  edges: [
    edge('score', 'repair', 'FAILURE'),
    edge('score', 'large', 'SUCCESS', () => true),
    edge('score', 'small', 'SUCCESS', () => false),
    edge('large', 'notify', 'ALWAYS'),
    edge('small', 'notify', 'ALWAYS'),
  ],
  output: outputOf('notify'),
});

const parallel = planOf({
  steps: {
    once: { type: 'CALLBACK', retry: { maxAttempts: 1 } },
    open: { type: 'CALLBACK', timeoutMs: 60_000, cancelTimeoutMs: 5000 },
    again: { type: 'CALLBACK' },
    timer: { type: 'WAIT', wakeAtUs: (_scope, nowUs) => nowUs + 600_000_000 },
  },
});

const opaque = { data: Buffer.from([0xa1, 0x61, 0x6e, 0x01]), encoding: 'cbor' };
const lost = (attempt: number): RunInput => ({ kind: 'lost', path: 'a', attempt });

/** All of them. */
export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'hello-world',
    about: 'A greeting built inline, then a wait of two seconds.',
    play: () => played(drive(helloWorld, TENANT_ID), start(), 2, WAKE),
  },
  {
    name: 'retries-and-branches',
    about: 'Two failed attempts, one timed out; then a branch taken, a branch skipped, a join, an output by reference.',
    play: () =>
      played(
        ...[
          drive(branches, TENANT_ID),
          lead,
          0.2,
          failed('score', 1, { stack: 'Error: boom\n    at score (lead.ts:7)' }),
        ],
        ...[1, WAKE, 1, running('score', drive(branches).nowUs + 2_200_000, 2, 'worker-7'), 300, WAKE],
        ...[2, WAKE, 0.5, completed('score', { score: 0.93 }, 3), 0.1, completed('large', [1, 2, 3])],
        ...[0.1, completed('notify', 'ünïcode \u{1f6a6}')],
      ),
  },
  {
    name: 'handled-failure',
    about: 'The only attempt fails for good; the FAILURE edge repairs it, the rest is skipped.',
    play: () =>
      played(
        ...[drive(branches, TENANT_ID), lead, 1, failed('score', 1, { nonRetryable: true, code: 'card_declined' })],
        ...[1, completed('repair', { repaired: true })],
      ),
  },
  {
    name: 'unhandled-failure',
    about: 'A failure nothing handles: a backoff and a timer are cancelled, an open attempt may end, the run fails.',
    play: () =>
      played(
        ...[
          drive(parallel, TENANT_ID),
          lead,
          1,
          [failed('again'), running('open', drive(parallel).nowUs, 1, 'worker-1')],
        ],
        ...[1, failed('once'), 3, result('open', 1, { kind: 'completed', output: opaque })],
      ),
  },
  {
    name: 'cancelled',
    about: 'A cancel: a backoff and a timer end at once, one attempt ends in time, one is given up as abandoned.',
    play: () =>
      played(
        ...[
          drive(parallel, TENANT_ID),
          lead,
          1,
          [failed('again'), running('open', drive(parallel).nowUs, 1, 'worker-1')],
        ],
        ...[0.5, CANCEL, 0.5, result('once', 1, { kind: 'cancelled' }), 4.5, WAKE],
      ),
  },
  {
    name: 'workers-lost',
    about: 'Three workers are lost in a row: the run is parked, later resumed, and completes.',
    play: () =>
      played(
        ...[drive(sequence('a', 'b'), TENANT_ID), lead, 20, lost(1), 1, WAKE, 20, lost(2), 2, WAKE, 20, lost(3)],
        ...[3600, { kind: 'resume' } as const, 1, completed('a', 1, 4), 1, completed('b', 2)],
      ),
  },
  {
    name: 'parked-poison',
    about: 'Parked for a poison payload with its attempt still out; the result is recorded, a cancel closes it.',
    play: () =>
      played(
        ...[drive(sequence('a', 'b'), TENANT_ID), lead, 1],
        ...[{ kind: 'park', code: 'poison_commit', message: 'SQLSTATE 54000: row is too big' } as const],
        ...[1, completed('a', { kept: true }), 86_400, CANCEL],
      ),
  },
  {
    name: 'still-open',
    about: 'A run in the middle: one attempt noted, one in backoff, one scheduled, a timer.',
    play: () =>
      played(
        ...[drive(parallel, TENANT_ID), lead, 1, failed('again'), 0.5],
        ...[running('open', drive(parallel).nowUs, 1, 'worker-1')],
      ),
  },
  {
    name: 'first-of-two',
    about: 'A join of any begins with the first of two; the loser is told to stop, a step on its way is skipped.',
    play: () =>
      played(
        ...[drive(race, TENANT_ID), lead, 1, running('slow', drive(race).nowUs, 1, 'worker-1'), 1],
        ...[completed('fast', { by: 'fast' }), 1, completed('won'), 1, result('slow', 1, { kind: 'cancelled' })],
      ),
  },
  {
    name: 'switched-and-completed',
    about: 'A switch chooses its second way, which a COMPLETE step ends while another step is told to stop.',
    play: () => played(drive(ways, TENANT_ID), lead, 1, completed('check'), 1, failed('audit')),
  },
  {
    name: 'failed-on-purpose',
    about: 'A FAIL step ends the run; on_failure cancel had nothing to stop.',
    play: () => played(drive(refusal, TENANT_ID), lead, 1, completed('check')),
  },
  {
    name: 'compensated',
    about: 'A FAIL step ends the run: the hotel cannot be given back, the flight is, at the second attempt.',
    play: () =>
      played(
        ...[drive(saga, TENANT_ID), lead, 1, completed('flight', 'F1'), 1, completed('hotel', 'H1'), 1],
        ...[failed('drop-hotel'), 1, failed('drop-flight'), 1, WAKE, 1, completed('drop-flight', null, 2)],
      ),
  },
  {
    name: 'timed-out',
    about: 'The time of the run is over while an attempt runs: it is told to stop, given up, and the run is TIMED_OUT.',
    play: () =>
      played(
        ...[drive(limited, TENANT_ID), lead, 1, running('slow', drive(limited).nowUs, 1, 'worker-1')],
        ...[59, WAKE, 30, WAKE],
      ),
  },
  {
    name: 'paused-and-terminated',
    about: 'Paused with an attempt out and its result recorded, resumed, paused again and terminated.',
    play: () =>
      played(
        ...[drive(sequence('a', 'b'), TENANT_ID), lead, 1, PAUSE, 5, completed('a', 1), 60, RESUME],
        ...[1, PAUSE, 1, TERMINATE],
      ),
  },
  {
    name: 'continued-as-new',
    about: 'A step continues the run; what ran beside it is stopped, and the run ends as its successor begins.',
    play: () =>
      played(
        ...[drive(longPoll, TENANT_ID), lead, 1, completed('ask', { turn: 2 }), 1],
        result('beside', 1, { kind: 'cancelled' }),
      ),
  },
  {
    name: 'selected-and-routed',
    about: 'Two recipients are held, the first refuses and the second takes it; a full pool is handled by routing.',
    play: () => {
      const run = drive(market, TENANT_ID);
      run.gate = MARKET;
      return played(run, lead, 1, failed('offer[0]/post', 1), 2, completed('offer[1]/post', { taken: true }));
    },
  },
  {
    name: 'exhausted-and-retried',
    about: 'Parked without attempts left, its progress kept; retried by somebody, it completes.',
    play: () => {
      const run = drive(patient, TENANT_ID);
      run.progressOf = (_path, attempt) => (attempt === 2 ? jsonValue({ page: 7 }) : null);
      return played(
        ...[
          run,
          lead,
          1,
          running('copy', run.nowUs, 1, 'worker-1'),
          1,
          { kind: 'silent', path: 'copy', attempt: 1 } as const,
        ],
        ...[5, WAKE, 1, failed('copy', 2), 3600, RETRY, 1, completed('copy', { pages: 9 }, 3)],
      );
    },
  },
];
