/**
 * Server reflection. Reading the whole contract for it takes longer than everything else of the server's start, and few
 * ever ask: so it is read at the first call.
 */
import type { ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js';
import { loadFileDescriptorSetFromBuffer } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import { FILE_DESCRIPTOR_SET_BASE64 } from '../../gen/descriptors.js';

/** Where the service is added: a server, or what checks before it adds. */
export interface ReflectionTarget {
  addService(service: ServiceDefinition, handlers: UntypedServiceImplementation): void;
}

/** Handlers by the full name of their service's methods. */
type Handlers = ReadonlyMap<string, UntypedServiceImplementation>;

/** The handlers of a reflection service, which only tells them to what it is added to. */
function handlersOf(service: ReflectionService): Handlers {
  const found = new Map<string, UntypedServiceImplementation>();
  service.addToServer({ addService: (definition, handlers) => found.set(nameOf(definition), handlers) });
  return found;
}

/** Paths of the methods: tells the versions of the protocol apart. */
function nameOf(definition: ServiceDefinition): string {
  return Object.values(definition)
    .map(({ path }) => path)
    .join();
}

/** Adds server reflection over the contract of this project. */
export function addReflection(target: ReflectionTarget): void {
  let real: Handlers | undefined;
  const read = (): Handlers => {
    const contract = loadFileDescriptorSetFromBuffer(Buffer.from(FILE_DESCRIPTOR_SET_BASE64, 'base64'));
    return handlersOf(new ReflectionService(contract));
  };
  // Reflection of nothing has the same services and methods.
  new ReflectionService({}).addToServer({
    addService(definition, handlers) {
      const later = Object.keys(handlers).map((method) => [
        method,
        (call: unknown) => {
          real ??= read();
          const handle: unknown = real.get(nameOf(definition))?.[method];
          if (typeof handle === 'function') Reflect.apply(handle, undefined, [call]);
        },
      ]);
      target.addService(definition, Object.fromEntries(later));
    },
  });
}
