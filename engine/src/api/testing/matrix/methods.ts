/** Every method of the contract as its descriptors say it, with what it needs and a good request. */
import { fromJson, toBinary, type JsonValue } from '@bufbuild/protobuf';
import { FILE_DESCRIPTOR_SET_BASE64 } from '../../../gen/descriptors.js';
import { PUBLIC, permissionOf, type Scope } from '../../../tenancy/index.js';
import { readContract, type ContractMethod } from '../../contract/contract.js';
import { GOOD_REQUESTS, type GoodRequest, type Ids } from './requests.js';

/** A method and how to call it. */
export interface MatrixMethod extends GoodRequest {
  /** Full name: /ductor.v1.RunService/GetRun. */
  readonly name: string;
  readonly method: ContractMethod;
  readonly scope: Scope;
  /** The request as bytes. */
  readonly bytes: (json: unknown) => Buffer;
}

const CONTRACT = readContract(Buffer.from(FILE_DESCRIPTOR_SET_BASE64, 'base64'));

function isJson(value: unknown): value is JsonValue {
  return value === null || ['object', 'string', 'number', 'boolean'].includes(typeof value);
}

function methodOf(method: ContractMethod): MatrixMethod {
  const { path: name, input } = method;
  const good = GOOD_REQUESTS[name];
  const scope = permissionOf(name);
  if (good === undefined) throw new TypeError(`${name} has no good request: add one to matrix/requests.ts`);
  if (scope === undefined || scope === PUBLIC) throw new TypeError(`${name} has no scope in the permission table`);
  const bytes = (json: unknown): Buffer => {
    if (!isJson(json)) throw new TypeError(`the request of ${name} is no JSON`);
    return Buffer.from(toBinary(input, fromJson(input, json, { registry: CONTRACT.registry })));
  };
  return { ...good, name, method, scope, bytes };
}

/** All of them, in the order of the contract. */
export const MATRIX_METHODS: readonly MatrixMethod[] = [...CONTRACT.methods.values()].map(methodOf);

/** The bytes of a good request. */
export function goodBytes({ bytes, request }: MatrixMethod, ids: Ids): Buffer {
  return bytes(request(ids));
}
