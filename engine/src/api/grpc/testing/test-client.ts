/** A client of the door for tests: raw grpc-js, nothing of the SDK. */
import { credentials, Metadata, type MethodDefinition, type ServiceError } from '@grpc/grpc-js';
import { BridgeServiceClient } from '../../../gen/ductor/v1/bridge.js';
import { Error as WireError } from '../../../gen/ductor/v1/common.js';
import { RunServiceClient } from '../../../gen/ductor/v1/run.js';
import { WorkflowServiceClient } from '../../../gen/ductor/v1/workflow.js';
import { ERROR_KEY } from '../errors/to-status.js';

/** Clients of all services with the metadata of one key. */
export interface TestClient {
  readonly runs: InstanceType<typeof RunServiceClient>;
  readonly workflows: InstanceType<typeof WorkflowServiceClient>;
  readonly bridge: InstanceType<typeof BridgeServiceClient>;
  readonly metadata: Metadata;
  close(): void;
}

/** Connects. */
export function testClient(address: string, apiKey: string | null): TestClient {
  const metadata = new Metadata();
  if (apiKey !== null) metadata.set('authorization', `Bearer ${apiKey}`);
  const options = { 'grpc.use_local_subchannel_pool': 1 };
  const runs = new RunServiceClient(address, credentials.createInsecure(), options);
  const shared = { channelOverride: runs.getChannel() };
  const workflows = new WorkflowServiceClient(address, credentials.createInsecure(), shared);
  const bridge = new BridgeServiceClient(address, credentials.createInsecure(), shared);
  return { runs, workflows, bridge, metadata, close: () => runs.close() };
}

/** A unary call as a promise; rejects with the ServiceError of grpc-js. */
export function call<Request, Response>(
  client: TestClient,
  method: MethodDefinition<Request, Response>,
  request: Request,
  metadata = client.metadata,
): Promise<Response> {
  const { path, requestSerialize, responseDeserialize } = method;
  return new Promise((resolve, reject) => {
    client.runs.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, metadata, (error, response) => {
      if (error === null && response !== undefined) resolve(response);
      else reject(error ?? new TypeError('neither an error nor a response'));
    });
  });
}

/** What a raw call needs to know of a method. */
export interface RawMethod {
  readonly path: string;
  readonly responseStream: boolean;
}

/** What a raw call came to: its answers, and its failure if it ended with one. */
export interface RawOutcome {
  readonly answers: readonly Buffer[];
  readonly error: ServiceError | null;
}

/** Sends bytes to a method, whatever its kind, and takes what comes until it ends or has answered once. */
export function rawCall(
  client: TestClient,
  { path, responseStream }: RawMethod,
  request: Buffer,
  metadata = client.metadata,
): Promise<RawOutcome> {
  const same = (bytes: Buffer): Buffer => bytes;
  return new Promise((resolve) => {
    const answers: Buffer[] = [];
    if (!responseStream) {
      client.runs.makeUnaryRequest(path, same, same, request, metadata, (error, answer) =>
        resolve({ answers: answer === undefined ? [] : [answer], error }),
      );
      return;
    }
    const stream = client.runs.makeBidiStreamRequest(path, same, same, metadata);
    stream.on('data', (answer: Buffer) => {
      answers.push(answer);
      resolve({ answers, error: null });
      stream.cancel();
    });
    stream.on('error', (error: ServiceError) => resolve({ answers, error }));
    stream.on('end', () => resolve({ answers, error: null }));
    stream.write(request);
    stream.end();
  });
}

/** The ductor.v1.Error in a failure of grpc-js; undefined when there is none. */
export function wireErrorOf(error: unknown): WireError | undefined {
  const { metadata } = error instanceof Error && 'metadata' in error ? error : { metadata: undefined };
  const [bytes] = metadata instanceof Metadata ? metadata.get(ERROR_KEY) : [];
  return bytes instanceof Buffer ? WireError.decode(bytes) : undefined;
}
