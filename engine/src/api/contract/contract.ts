/**
 * The contract as its descriptors say it: services, methods, messages, and the HTTP bindings of google.api.http.
 * Everything that the doors over HTTP/1.1 serve is made from this and from nothing else.
 */
import {
  createFileRegistry,
  fromBinary,
  getExtension,
  hasExtension,
  toJson,
  type DescMessage,
  type DescMethod,
  type FileRegistry,
} from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { z } from 'zod';
import { impossible } from '../../kernel/index.js';

/** Verbs that a binding may have. */
export type HttpVerb = 'GET' | 'PUT' | 'POST' | 'DELETE' | 'PATCH';

/** One way to call a method by REST. */
export interface HttpBinding {
  readonly verb: HttpVerb;
  /** Path template: /api/runs/{run_id}:cancel. */
  readonly template: string;
  /** What the body is: '' nothing, '*' the request, else the field of this name. */
  readonly body: string;
}

/** A method of the contract. */
export interface ContractMethod {
  /** Full name as gRPC has it: /ductor.v1.RunService/GetRun. */
  readonly path: string;
  readonly service: string;
  readonly name: string;
  readonly input: DescMessage;
  readonly output: DescMessage;
  readonly kind: DescMethod['methodKind'];
  readonly bindings: readonly HttpBinding[];
  readonly desc: DescMethod;
}

/** The contract. */
export interface Contract {
  readonly registry: FileRegistry;
  /** By their paths, in the order of the files. */
  readonly methods: ReadonlyMap<string, ContractMethod>;
}

const OPTION = 'google.api.http';
const OWN_PREFIX = 'ductor.';
/** Services of the contract that apps host and the engine calls: no door serves them. */
const HOSTED_BY_APPS = new Set(['ductor.v1.BridgeCallbackService']);

const RULE = z.object({
  get: z.string().optional(),
  put: z.string().optional(),
  post: z.string().optional(),
  delete: z.string().optional(),
  patch: z.string().optional(),
  body: z.string().default(''),
});
const RULES = RULE.extend({ additionalBindings: z.array(RULE).default([]) });

function bindingOf(rule: z.output<typeof RULE>, path: string): HttpBinding {
  const { body, get, put, post, delete: remove, patch } = rule;
  const verbs = { GET: get, PUT: put, POST: post, DELETE: remove, PATCH: patch } as const;
  for (const verb of ['GET', 'PUT', 'POST', 'DELETE', 'PATCH'] as const) {
    const template = verbs[verb];
    if (template !== undefined) return { verb, template, body };
  }
  return impossible('http-rule-verb', `${path} has a google.api.http rule of a kind that is not served`);
}

function bindingsOf(registry: FileRegistry, desc: DescMethod, path: string): readonly HttpBinding[] {
  const option = registry.getExtension(OPTION);
  const { options } = desc.proto;
  if (option?.message === undefined || options === undefined || !hasExtension(options, option)) return [];
  // As JSON, because descriptors that come from bytes have no TypeScript types.
  const value = toJson(option.message, extensionMessage(options, option));
  const rule = RULES.parse(value);
  return [rule, ...rule.additionalBindings].map((each) => bindingOf(each, path));
}

function extensionMessage(
  options: Parameters<typeof getExtension>[0],
  option: Parameters<typeof getExtension>[1],
): Parameters<typeof toJson>[1] {
  const value: unknown = getExtension(options, option);
  if (isMessageLike(value)) return value;
  return impossible('http-rule-message', 'google.api.http holds no message');
}

function isMessageLike(value: unknown): value is Parameters<typeof toJson>[1] {
  return typeof value === 'object' && value !== null && '$typeName' in value;
}

/**
 * Reads a contract.
 *
 * @param descriptors bytes of a google.protobuf.FileDescriptorSet with all imports
 * @param prefix services whose full names begin with it are the contract's. Default "ductor."
 */
export function readContract(descriptors: Uint8Array, prefix = OWN_PREFIX): Contract {
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, descriptors));
  const methods = new Map<string, ContractMethod>();
  for (const file of registry.files) {
    const served = file.services.filter(({ typeName }) => typeName.startsWith(prefix) && !HOSTED_BY_APPS.has(typeName));
    for (const service of served) {
      for (const desc of service.methods) {
        const path = `/${service.typeName}/${desc.name}`;
        methods.set(path, {
          ...{ path, service: service.typeName, name: desc.name, desc },
          ...{ input: desc.input, output: desc.output, kind: desc.methodKind },
          bindings: bindingsOf(registry, desc, path),
        });
      }
    }
  }
  return { registry, methods };
}
