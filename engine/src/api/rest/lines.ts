/**
 * A stream of answers over REST: one JSON object a line (application/x-ndjson). An empty line is a sign of life; the
 * last line is `{"error": {...}}` when the stream ended badly. A failure before the first answer has an HTTP status.
 */
import type { ServerResponse } from 'node:http';
import type { DescMessage } from '@bufbuild/protobuf';
import type { Clock, Timer } from '../../kernel/index.js';
import type { Contract } from '../contract/contract.js';
import type { GuardedStream, ReadRequest } from '../grpc/guarded-method.js';
import { callMetadata } from '../http/headers.js';
import type { OpenStreams } from '../http/open-streams.js';
import { beginStream, errorJson, respondError } from '../http/respond.js';
import { decodeMessage } from '../json/codec.js';

/** What a stream needs. */
export interface Lines {
  readonly contract: Contract;
  readonly clock: Clock;
  readonly keepAliveMs: number;
  readonly streams: OpenStreams;
  readonly served: GuardedStream;
  readonly output: DescMessage;
  readonly read: ReadRequest;
}

const CONTENT_TYPE = 'application/x-ndjson; charset=utf-8';

/** The sign of life: a line without anything, whenever nothing was said for so long. */
function signOfLife(clock: Clock, everyMs: number, response: ServerResponse): { said(): void; stop(): void } {
  let timer: Timer | undefined;
  const said = (): void => {
    timer?.cancel();
    timer = clock.setTimer(everyMs, () => {
      response.write('\n');
      said();
    });
  };
  return { said, stop: () => timer?.cancel() };
}

/** Answers with lines until the method or the peer ends it, or the node stops. */
export function answerLines(lines: Lines, response: ServerResponse): void {
  const { contract, clock, keepAliveMs, streams, served, output, read } = lines;
  const life = signOfLife(clock, keepAliveMs, response);
  const end = (caught: unknown): void => {
    life.stop();
    forget();
    if (response.writableEnded) return;
    const error = caught === null ? null : served.reported(caught);
    if (error !== null && !response.headersSent) return respondError(response, error);
    if (!response.headersSent) beginStream(response, CONTENT_TYPE);
    response.end(error === null ? '' : `${JSON.stringify({ error: errorJson(error) })}\n`);
  };
  const forget = streams.add(end);
  const events = served.open(callMetadata(response.req), read, {
    write(bytes) {
      const text = decodeMessage(contract.registry, output, bytes);
      if (!response.headersSent) beginStream(response, CONTENT_TYPE);
      life.said();
      return response.write(`${text}\n`);
    },
    end,
  });
  response.on('drain', () => events.drained());
  response.on('close', () => {
    life.stop();
    forget();
    events.gone();
  });
}
