/** One request through each door, for tests that compare the answers. */
import { fromBinary, fromJson, toBinary, toJson, type JsonValue } from '@bufbuild/protobuf';
import { status } from '@grpc/grpc-js';
import { FILE_DESCRIPTOR_SET_BASE64 } from '../../gen/descriptors.js';
import { readContract, type ContractMethod } from '../contract/contract.js';
import { rawCall, wireErrorOf, type TestClient } from '../grpc/testing/test-client.js';
import type { JsonFields } from '../json/check-message.js';
import { httpCall, member, type HttpAnswer, type HttpCall } from './http-call.js';
import { restTwin } from './rest-twin.js';

/** The contract of this engine. */
export const CONTRACT = readContract(Buffer.from(FILE_DESCRIPTOR_SET_BASE64, 'base64'));

/** A method of it by the last part of its name. Throws when there is none. */
export function methodNamed(name: string): ContractMethod {
  const found = [...CONTRACT.methods.values()].find((method) => method.name === name);
  if (found === undefined) throw new TypeError(`no method ${name}`);
  return found;
}

/** One thing that is wrong, as a door told it. */
export interface ToldProblem {
  readonly path: string;
  readonly value: string;
  readonly problem: string;
  readonly remedy: string;
}

/** What a door answered. */
export interface DoorAnswer {
  /** "ok", or the code of the error. */
  readonly code: string;
  /** HTTP status; for gRPC the name of its status. */
  readonly status: number | string;
  readonly problems: readonly ToldProblem[];
  readonly remedy: string;
  /** JSON of the answer, when it is no error. */
  readonly json: unknown;
}

/** A caller with a key of one tenant. */
export interface Caller {
  readonly address: string;
  readonly apiKey: string;
  readonly grpc: TestClient;
}

function isToldProblem(value: unknown): value is ToldProblem {
  return ['path', 'value', 'problem', 'remedy'].every((name) => typeof member(value, name) === 'string');
}

function told(error: unknown, http: HttpAnswer): DoorAnswer {
  const details = member(error, 'details');
  const problems: unknown[] = Array.isArray(details) ? details : [];
  return {
    code: error === undefined ? 'ok' : String(member(error, 'code')),
    status: http.status,
    problems: problems.filter(isToldProblem),
    remedy: String(member(error, 'remedy') ?? ''),
    json: error === undefined ? http.json : undefined,
  };
}

/** Sends a request to REST as it stands. */
export async function restCall({ address, apiKey }: Caller, call: HttpCall): Promise<DoorAnswer> {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...call.headers };
  const answer = await httpCall(address, { ...call, headers });
  const error = member(answer.json, 'error');
  return told(answer.status === 200 ? undefined : (error ?? { code: `no error in ${answer.body.toString()}` }), answer);
}

/** Sends JSON to REST, as the method's first binding says. */
export function viaRest(caller: Caller, method: ContractMethod, json: JsonFields): Promise<DoorAnswer> {
  return restCall(caller, restTwin(method, json));
}

/** Sends a body to Connect. */
export async function viaConnect(
  { address, apiKey }: Caller,
  { path }: ContractMethod,
  body: string | Uint8Array,
  headers: HttpCall['headers'] = {},
): Promise<DoorAnswer> {
  const all = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...headers };
  const answer = await httpCall(address, { method: 'POST', path, body, headers: all });
  if (answer.status === 200) return told(undefined, answer);
  const detail = member(answer.json, 'details', 0, 'debug') ?? member(answer.json, 'error');
  return told(detail ?? { code: `no detail in ${answer.body.toString()}` }, answer);
}

/** The bytes of a message that JSON can say. Throws when it cannot. */
export function bytesOf({ input }: ContractMethod, json: JsonValue): Buffer {
  return Buffer.from(toBinary(input, fromJson(input, json, { registry: CONTRACT.registry, recursionLimit: 3_000 })));
}

/** Sends bytes to gRPC. */
export async function viaGrpc({ grpc }: Caller, method: ContractMethod, bytes: Buffer): Promise<DoorAnswer> {
  const responseStream = method.kind !== 'unary';
  const { answers, error } = await rawCall(grpc, { path: method.path, responseStream }, bytes);
  const [first] = answers;
  if (error === null && first !== undefined) {
    const options = { registry: CONTRACT.registry, alwaysEmitImplicit: true, useProtoFieldName: true };
    const json = toJson(method.output, fromBinary(method.output, first), options);
    return { code: 'ok', status: 'OK', problems: [], remedy: '', json };
  }
  const said = wireErrorOf(error);
  const name = error === null ? 'OK' : (status[error.code] ?? 'UNKNOWN');
  return {
    code: said?.code ?? name,
    status: name,
    problems: said?.details ?? [],
    remedy: said?.remedy ?? '',
    json: undefined,
  };
}
