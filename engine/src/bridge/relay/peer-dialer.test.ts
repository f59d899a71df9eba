import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Server, ServerCredentials, status, type ServerDuplexStream } from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from 'vitest';
import { RelayServiceService, type RelayRequest, type RelayResponse } from '../../gen/ductor/relay/v1/relay.js';
import { WorkRequest, WorkResponse } from '../../gen/ductor/v1/bridge.js';
import { systemClock, type DuctorError } from '../../kernel/index.js';
import { PASS_KEY, peerDialer, type PeerTls } from './peer-dialer.js';
import type { RelayDialer, RelayLine } from './ports.js';

type Call = ServerDuplexStream<RelayRequest, RelayResponse>;
const servers: Server[] = [];
const dialers: RelayDialer[] = [];
const logged: string[] = [];
afterEach(() => {
  for (const dialer of dialers.splice(0)) dialer.close();
  for (const server of servers.splice(0)) server.forceShutdown();
  logged.splice(0);
});

const pem = (name: string): Buffer =>
  readFileSync(fileURLToPath(new URL(`../../../../test/fixtures/tls/${name}`, import.meta.url)));

/** A node that answers each stream by the handler. */
async function node(serve: (call: Call) => void, credentials = ServerCredentials.createInsecure()): Promise<number> {
  const server = new Server();
  servers.push(server);
  server.addService(RelayServiceService, { relay: serve });
  return new Promise((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', credentials, (error, port) => (error === null ? resolve(port) : reject(error)));
  });
}

interface Dialled {
  readonly line: RelayLine;
  readonly received: WorkResponse[];
  readonly ended: Promise<DuctorError | null>;
}

function dial(address: string, tls: () => PeerTls | null = () => null, nodeId = 'peer'): Dialled {
  const log = (line: string): void => void logged.push(line);
  const dialer = peerDialer({ clock: systemClock(), pass: (to, tenant) => `${to.nodeId}/${tenant}`, tls, log });
  dialers.push(dialer);
  const received: WorkResponse[] = [];
  let end: (error: DuctorError | null) => void = () => undefined;
  const ended = new Promise<DuctorError | null>((resolve) => (end = resolve));
  const workflows = [{ familySlug: 'flow', handlers: ['work'], version: 2 }];
  const work = WorkRequest.fromPartial({ hello: { workerId: 'w', slots: 1 } });
  const events = { received: (message: WorkResponse): void => void received.push(message), ended: end };
  return { line: dialer.dial({ nodeId, address }, { tenantId: 'tenant', workflows, work }, events), received, ended };
}

/** Answers everything with a ping of as many as came, ends when the caller does. */
function echo(heard: RelayRequest[]): (call: Call) => void {
  return (call) => {
    call.on('data', (request: RelayRequest) => {
      heard.push(request);
      call.write({ work: WorkResponse.fromPartial({ ping: BigInt(heard.length) }) });
    });
    call.on('end', () => call.end());
  };
}

describe('a line to another node', () => {
  it('shows the pass, says hello first, carries both ways and ends in order', async () => {
    const heard: RelayRequest[] = [];
    const passes: unknown[] = [];
    const serve = echo(heard);
    const port = await node((call) => {
      passes.push(call.metadata.get(PASS_KEY));
      serve(call);
    });
    const { line, received, ended } = dial(`127.0.0.1:${port}`);
    line.send(WorkRequest.fromPartial({ credits: 3 }));
    line.finish();
    expect(await ended).toBeNull();
    expect(passes).toEqual([['peer/tenant']]);
    expect(heard[0]).toMatchObject({ hello: { workflows: [{ version: 2 }] }, work: { hello: { workerId: 'w' } } });
    expect([heard[1]?.work?.credits, received.length]).toEqual([3, 2]);
    line.send(WorkRequest.fromPartial({}));
    expect(logged).toEqual([]);
  });

  it('ends with an error when the node is out of reach, or refuses', async () => {
    const port = await node((call) => void call.emit('error', { code: status.UNAUTHENTICATED, details: 'not you' }));
    expect(await dial(`127.0.0.1:${port}`).ended).toMatchObject({ message: expect.stringMatching(/not you/) });
    expect(await dial('127.0.0.1:1').ended).toMatchObject({ code: 'host_unreachable' });
    expect(logged).toHaveLength(2);
  });

  it('is silent once it was cancelled', async () => {
    const closed = new Promise<void>((resolve) => {
      void node((call) => call.on('cancelled', () => resolve())).then((port) => {
        const { line, ended } = dial(`127.0.0.1:${port}`);
        void ended.then(() => expect.fail('it told of its end'));
        setTimeout(() => line.cancel(), 300);
      });
    });
    await closed;
    expect(logged).toEqual([]);
  });
});

describe('with TLS', () => {
  const served = (): ServerCredentials =>
    ServerCredentials.createSsl(pem('ca.pem'), [{ private_key: pem('server-key.pem'), cert_chain: pem('server.pem') }]);

  it('trusts the authority that is named', async () => {
    const port = await node(echo([]), served());
    const { line, ended } = dial(`localhost:${port}`, () => ({ ca: pem('ca.pem'), own: null }));
    line.finish();
    expect(await ended).toBeNull();
  });

  it('trusts no other, and says so when its files cannot be read', async () => {
    const port = await node(echo([]), served());
    expect(await dial(`localhost:${port}`, () => ({ ca: null, own: null })).ended).not.toBeNull();
    const unread = dial(`localhost:${port}`, () => ({ ca: pem('none.pem'), own: null }));
    expect(await unread.ended).toMatchObject({ message: expect.stringMatching(/./) });
    expect(logged.at(-1)).toMatch(/cannot be opened/);
  });
});
