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
import { beginStream, errorJson, respondError } from '../http/respond.js';
import { decodeMessage } from '../json/codec.js';

/** What a stream needs. */
export interface Lines {
  readonly contract: Contract;
  readonly clock: Clock;
  readonly keepAliveMs: number;
  readonly served: GuardedStream;
  readonly output: DescMessage;
  readonly read: ReadRequest;
}

const CONTENT_TYPE = 'application/x-ndjson; charset=utf-8';

/** Answers with lines until the method or the peer ends it. */
export function answerLines(lines: Lines, response: ServerResponse): void {
  const { contract, clock, keepAliveMs, served, output, read } = lines;
  let timer: Timer | undefined;
  const keepAlive = (): void => {
    timer?.cancel();
    timer = clock.setTimer(keepAliveMs, () => {
      response.write('\n');
      keepAlive();
    });
  };
  const events = served.open(callMetadata(response.req), read, {
    write(bytes) {
      const text = decodeMessage(contract.registry, output, bytes);
      if (!response.headersSent) beginStream(response, CONTENT_TYPE);
      keepAlive();
      return response.write(`${text}\n`);
    },
    end(caught) {
      timer?.cancel();
      if (caught === null) {
        if (!response.headersSent) beginStream(response, CONTENT_TYPE);
        response.end();
        return;
      }
      const error = served.reported(caught);
      if (response.headersSent) response.end(`${JSON.stringify({ error: errorJson(error) })}\n`);
      else respondError(response, error);
    },
  });
  response.on('drain', () => events.drained());
  response.on('close', () => {
    timer?.cancel();
    events.gone();
  });
}
