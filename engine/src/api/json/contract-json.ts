/** Messages of the contract as JSON and back, by their names. */
import { fromBinary, toJson, type DescMessage, type JsonObject, type JsonValue } from '@bufbuild/protobuf';
import { FILE_DESCRIPTOR_SET_BASE64 } from '../../gen/descriptors.js';
import { impossible } from '../../kernel/index.js';
import { readContract } from '../contract/contract.js';
import { isJsonValueObject } from './check-message.js';
import { decodeMessage, encodeMessage } from './codec.js';
import { pathsOf } from './field-paths.js';

/** Reads and writes messages of package ductor.v1 by their names. */
export interface ContractJson {
  /** Bytes of a message. Throws invalid_argument with everything that is wrong. */
  encode(name: string, json: JsonValue): Uint8Array;
  /** The JSON text of a message, as the REST door writes it. */
  decode(name: string, bytes: Uint8Array): string;
  /** What is set in a message, with the names of the contract: nothing stands there that the sender did not send. */
  sent(name: string, bytes: Uint8Array): JsonObject;
  /** Paths of an update_mask for what the JSON of a message names, null too. */
  paths(name: string, json: JsonValue): readonly string[];
}

let made: ContractJson | undefined;

/** The JSON of the contract; made once. */
export function contractJson(): ContractJson {
  made ??= make();
  return made;
}

function make(): ContractJson {
  const { registry } = readContract(Buffer.from(FILE_DESCRIPTOR_SET_BASE64, 'base64'));
  const known = (name: string): DescMessage =>
    registry.getMessage(`ductor.v1.${name}`) ?? impossible('contract-message', `the contract has no message ${name}`);
  return {
    encode: (name, json) => encodeMessage(registry, known(name), json),
    decode: (name, bytes) => decodeMessage(registry, known(name), bytes),
    paths: (name, json) => (isJsonValueObject(json) ? pathsOf(known(name), json) : []),
    sent(name, bytes) {
      const json = toJson(known(name), fromBinary(known(name), bytes), { registry, useProtoFieldName: true });
      return isJsonValueObject(json) ? json : impossible('message-json', `${name} is no object in JSON`);
    },
  };
}
