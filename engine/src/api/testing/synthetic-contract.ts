/** A small contract with what the real one does not use yet: masks, 64 bits, durations, oneofs, maps of messages. */
import { create, toBinary, type DescMessage } from '@bufbuild/protobuf';
import {
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  file_google_protobuf_duration,
  file_google_protobuf_field_mask,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
} from '@bufbuild/protobuf/wkt';
import { readContract, type Contract, type ContractMethod, type HttpBinding } from '../contract/contract.js';

const google = [
  file_google_protobuf_duration,
  file_google_protobuf_field_mask,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
].map(({ proto }) => proto);

const field = (name: string, number: number, type: Type, more: object = {}) => ({
  ...{ name, number, type, label: Label.OPTIONAL },
  jsonName: name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
  ...more,
});
const message = (name: string, number: number, typeName: string) => field(name, number, Type.MESSAGE, { typeName });

const FILE = create(FileDescriptorProtoSchema, {
  name: 'synthetic/v1/thing.proto',
  package: 'synthetic.v1',
  syntax: 'proto3',
  dependency: google.map(({ name }) => name),
  messageType: [
    {
      name: 'Thing',
      field: [
        field('title', 1, Type.STRING),
        field('amount_micros', 2, Type.INT64),
        field('count', 3, Type.UINT64),
        field('small', 4, Type.INT32),
        field('ratio', 5, Type.FLOAT),
        field('is_open', 6, Type.BOOL),
        field('data', 7, Type.BYTES),
        message('ttl', 8, '.google.protobuf.Duration'),
        message('at', 9, '.google.protobuf.Timestamp'),
        field('card', 10, Type.STRING, { oneofIndex: 0 }),
        field('cash', 11, Type.STRING, { oneofIndex: 0 }),
        field('parts', 12, Type.MESSAGE, { typeName: '.synthetic.v1.Thing', label: Label.REPEATED }),
        field('by_name', 13, Type.MESSAGE, { typeName: '.synthetic.v1.Thing.ByNameEntry', label: Label.REPEATED }),
        field('by_id', 14, Type.MESSAGE, { typeName: '.synthetic.v1.Thing.ByIdEntry', label: Label.REPEATED }),
        message('extra', 15, '.google.protobuf.Struct'),
        message('any_value', 16, '.google.protobuf.Value'),
        message('inner', 18, '.synthetic.v1.Thing'),
        field('kinds', 17, Type.ENUM, { typeName: '.synthetic.v1.Kind', label: Label.REPEATED }),
      ],
      oneofDecl: [{ name: 'pays' }],
      nestedType: [
        {
          name: 'ByNameEntry',
          field: [field('key', 1, Type.STRING), message('value', 2, '.synthetic.v1.Thing')],
          options: { mapEntry: true },
        },
        {
          name: 'ByIdEntry',
          field: [field('key', 1, Type.UINT32), field('value', 2, Type.BOOL)],
          options: { mapEntry: true },
        },
      ],
    },
    {
      name: 'UpdateThingRequest',
      field: [
        field('thing_id', 1, Type.STRING),
        message('thing', 2, '.synthetic.v1.Thing'),
        message('update_mask', 3, '.google.protobuf.FieldMask'),
        field('tags', 4, Type.STRING, { label: Label.REPEATED }),
      ],
    },
  ],
  enumType: [
    {
      name: 'Kind',
      value: [
        { name: 'KIND_UNSPECIFIED', number: 0 },
        { name: 'KIND_LARGE', number: 1 },
        { name: 'KIND_SMALL', number: 2 },
      ],
    },
  ],
  service: [
    {
      name: 'ThingService',
      method: [
        { name: 'UpdateThing', inputType: '.synthetic.v1.UpdateThingRequest', outputType: '.synthetic.v1.Thing' },
      ],
    },
  ],
});

/** The contract. */
export function syntheticContract(): Contract {
  const set = create(FileDescriptorSetSchema, { file: [...google, FILE] });
  return readContract(toBinary(FileDescriptorSetSchema, set), 'synthetic.');
}

/** Its one method, bound to other places. */
export function boundMethod(contract: Contract, ...bindings: readonly HttpBinding[]): ContractMethod {
  const [method] = contract.methods.values();
  if (method === undefined) throw new TypeError('the synthetic contract has no method');
  return { ...method, bindings };
}

/** Its message Thing. */
export function thing(contract: Contract): DescMessage {
  const found = contract.registry.getMessage('synthetic.v1.Thing');
  if (found === undefined) throw new TypeError('the synthetic contract has no Thing');
  return found;
}
