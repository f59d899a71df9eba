/** Asks an engine through its door: whether it answers, serves, and holds parked runs of the key's tenant. */
import { status } from '@grpc/grpc-js';
import { ListRunsRequest, type ListRunsResponse, RunState } from '../../gen/ductor/v1/run.js';
import { DuctorError } from '../../kernel/index.js';
import type { EngineClient } from '../connect/engine-client.js';
import { counted, fail, type Finding, ok, warn } from './finding.js';

const PAGE = 200;
/** HealthCheckResponse { status = 1 }: SERVING is 1. */
const SERVING = Buffer.from([0x08, 0x01]);
const HEALTH = '/grpc.health.v1.Health/Check';
const EXAMPLES = 3;

function parkedFinding({ data }: ListRunsResponse): Finding {
  if (data.length === 0) return ok('runs.parked', "none of the key's tenant");
  const count = data.length === PAGE ? `${PAGE} runs or more` : counted(data.length, 'run');
  const examples = data.slice(0, EXAMPLES).map(({ id }) => id);
  const remedy = 'See why: ductor run show RUN. Go on: ductor run retry RUN. Give up: ductor run terminate RUN.';
  return warn('runs.parked', `${count} parked, for example ${examples.join(', ')}`, 'They wait for people.', remedy);
}

async function healthFinding(engine: EngineClient): Promise<Finding> {
  const same = (bytes: Buffer): Buffer => bytes;
  const answer = await engine.ask<Buffer | undefined>((metadata, options, done) =>
    engine.runs.makeUnaryRequest(HEALTH, same, same, Buffer.alloc(0), metadata, options, done),
  );
  if (answer?.equals(SERVING) === true) return ok('engine.serving', 'yes');
  const meaning = 'The node drains, is fenced, or has no shards yet: it starts no runs.';
  return fail('engine.serving', 'no', meaning, 'Look in its log; a node that has just started needs a moment.');
}

/** What an engine tells. Never throws: that it does not answer is a finding. */
export async function examineEngine(engine: EngineClient): Promise<readonly Finding[]> {
  const { address, source } = engine.endpoint;
  const beganMs = engine.clock.monotonicMs();
  try {
    const health = await healthFinding(engine);
    const pagination = { pageSize: PAGE, cursor: '', nextCursor: '' };
    const request = ListRunsRequest.fromPartial({ pagination, state: RunState.RUN_STATE_PARKED });
    const parked = await engine.ask<ListRunsResponse>((...rest) => engine.runs.listRuns(request, ...rest));
    const tookMs = Math.round(engine.clock.monotonicMs() - beganMs);
    return [ok('engine.answers', `${address}, two calls in ${tookMs} ms`), health, parkedFinding(parked)];
  } catch (caught) {
    const error = DuctorError.from(caught);
    const meaning =
      error.kind.grpc === status[status.UNAVAILABLE] ? 'Clients and workers cannot reach it.' : error.message;
    return [fail('engine.answers', `${address} (named by ${source}): ${error.message}`, meaning, error.remedy)];
  }
}
