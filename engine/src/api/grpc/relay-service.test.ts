import { describe, expect, it } from 'vitest';
import { type DeepPartial, RelayRequest, type RelayResponse } from '../../gen/ductor/relay/v1/relay.js';
import { WorkResponse } from '../../gen/ductor/v1/bridge.js';
import type { Bridge } from '../../bridge/index.js';
import { relay } from './relay-service.js';

type Open = Bridge['open'];
const principal = {
  tenantId: 'tenant',
  principalId: 'lender',
  name: 'lender',
  scopes: new Set(['bridge:work'] as const),
};

/** The service before a bridge that notes what it gets. */
function served(): {
  readonly events: ReturnType<ReturnType<typeof relay>>;
  readonly opened: Parameters<Open>[];
  readonly told: string[];
  readonly sent: RelayResponse[];
} {
  const [opened, told, sent]: [Parameters<Open>[], string[], RelayResponse[]] = [[], [], []];
  const note = (what: string) => (): void => void told.push(what);
  const open: Open = (...call) => {
    opened.push(call);
    const received = ({ credits }: { credits: number }): void => void told.push(`received ${credits}`);
    return { received, drained: note('drained'), finished: note('finished'), gone: note('gone'), close: note('close') };
  };
  const answers = {
    write: (answer: RelayResponse) => sent.push(answer) > 0,
    ...{ pause: note('pause'), resume: note('resume'), end: note('end') },
  };
  return { events: relay({ open })(principal, answers), opened, told, sent };
}

const request = (parts: DeepPartial<RelayRequest>): RelayRequest => RelayRequest.fromPartial(parts);

describe('the service of nodes that lend workers', () => {
  it('opens a session of the worker that the node lends, with what it can do', () => {
    const { events, opened, told, sent } = served();
    const workflows = [
      { familySlug: 'a', handlers: ['x'], version: 0 },
      { familySlug: 'b', handlers: [], version: 4 },
    ];
    events.received(request({ hello: { workflows }, work: { credits: 1 } }));
    events.received(request({ work: { credits: 2 } }));
    events.received(request({}));
    events.drained();
    events.finished();
    events.gone();
    expect(told).toEqual(['received 1', 'received 2', 'drained', 'finished', 'gone']);
    const [[who, stream, registered, by] = []] = opened;
    expect([opened.length, who, by]).toEqual([1, principal, 'lender']);
    expect(registered?.workflows.map(({ pinnedVersion }) => pinnedVersion)).toEqual([null, 4]);
    stream?.write(WorkResponse.fromPartial({ ping: 3n }));
    expect(sent).toMatchObject([{ work: { ping: 3n } }]);
  });

  it('refuses a stream that does not begin with hello, or with too much of it', () => {
    expect(() => served().events.received(request({ work: { credits: 1 } }))).toThrow(/must carry hello/);
    const workflows = Array.from({ length: 1_001 }, () => ({ familySlug: 'a' }));
    const handlers = Array.from({ length: 1_001 }, (_, index) => `h${index}`);
    for (const hello of [{ workflows }, { workflows: [{ familySlug: 'a', handlers }] }]) {
      expect(() => served().events.received(request({ hello }))).toThrow(/hello/);
    }
  });

  it('ends what ends before it began', () => {
    const { events, told } = served();
    events.drained();
    events.finished();
    events.gone();
    expect(told).toEqual(['end']);
  });
});
