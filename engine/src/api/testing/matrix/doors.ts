/** The doors of a node as the matrix calls them. */
import { status } from '@grpc/grpc-js';
import { rawCall, testClient, wireErrorOf, type TestClient } from '../../grpc/testing/test-client.js';
import { bearer, httpCall, member, type HttpAnswer } from '../http-call.js';
import { restTwin } from '../rest-twin.js';
import type { MatrixAnswer, MatrixDoor } from './matrix.js';

/** Faults carry a tag of their own in each answer; the matrix expects none. */
function httpAnswer({ status: code, body, headers }: HttpAnswer, found: unknown): MatrixAnswer {
  const said = [code, headers['content-type'], headers['retry-after'], headers['grpc-status'], body.toString('utf8')];
  if (code === 200) return { code: 'ok', body: JSON.stringify(said) };
  return { code: typeof found === 'string' ? found : `status ${code}`, body: JSON.stringify(said) };
}

/** Clients by address and key: a connection for each call cost more than all else of it. */
const clients = new Map<string, TestClient>();

function clientOf(address: string, apiKey: string | null): TestClient {
  const name = `${address} ${apiKey ?? ''}`;
  const client = clients.get(name) ?? testClient(address, apiKey);
  clients.set(name, client);
  return client;
}

/** gRPC, by grpc-js. */
export const GRPC_DOOR: MatrixDoor = {
  name: 'grpc',
  isText: false,
  has: () => true,
  close() {
    for (const client of clients.values()) client.close();
    clients.clear();
  },
  async call(address, { method, name, bytes }, apiKey, request) {
    const client = clientOf(address, apiKey);
    const responseStream = method.kind !== 'unary';
    const { answers, error } = await rawCall(client, { path: name, responseStream }, bytes(request));
    if (error === null) return { code: 'ok', body: Buffer.concat(answers).toString('latin1') };
    const wire = wireErrorOf(error);
    const body = JSON.stringify([error.code, error.details, wire]);
    return { code: wire?.code ?? `status ${status[error.code]}`, body };
  },
};

/** REST, by the first binding of the method. */
export const REST_DOOR: MatrixDoor = {
  name: 'rest',
  isText: true,
  has: ({ method }) => method.bindings.length > 0,
  close: () => undefined,
  async call(address, { method }, apiKey, request) {
    const headers = apiKey === null ? { 'content-type': 'application/json' } : bearer(apiKey);
    const answer = await httpCall(address, { ...restTwin(method, request), headers });
    return httpAnswer(answer, member(answer.json, 'error', 'code'));
  },
};

/** Connect with JSON, calls with one answer. */
export const CONNECT_DOOR: MatrixDoor = {
  name: 'connect',
  isText: true,
  has: ({ method }) => method.kind === 'unary',
  close: () => undefined,
  async call(address, { name }, apiKey, request) {
    const headers = apiKey === null ? { 'content-type': 'application/json' } : bearer(apiKey);
    const answer = await httpCall(address, { method: 'POST', path: name, headers, body: JSON.stringify(request) });
    const { code, body } = httpAnswer(answer, member(answer.json, 'details', 0, 'debug', 'code'));
    const plain = (_: string, before: string, base64: string): string =>
      before + Buffer.from(base64, 'base64').toString('latin1');
    return { code, body: body.replaceAll(/(ductor\.v1\.Error\\",\\"value\\":\\")([^"\\]*)/g, plain) };
  },
};
