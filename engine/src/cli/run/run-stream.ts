/**
 * A run as it changes, over engines that come and go: a stream that breaks is opened again, as long as an engine
 * answers within the time given.
 */
import type { Run, WatchRunResponse } from '../../gen/ductor/v1/run.js';
import { DuctorError, type ErrorCode, sleep } from '../../kernel/index.js';
import type { EngineClient } from '../connect/engine-client.js';
import { isClosedState } from '../view/marks.js';

/** How long an engine may stay away, ms. */
const PATIENCE_MS = 120_000;
const RETRY_MS = 500;
const PASSING: ReadonlySet<ErrorCode> = new Set(['engine_unreachable', 'node_starting', 'database_unavailable']);

/** What a watcher hears. */
export interface RunNews {
  /** The run, and again at each change; the last one is closed. */
  changed(run: Run): Promise<void>;
  /** No engine answers. */
  lost(error: DuctorError): void;
  /** One answers again. */
  found(): void;
}

/**
 * Follows a run, and those that continue it, until the last one is closed. Throws what does not pass, or
 * engine_unreachable when patience ends.
 */
export async function followRun(engine: EngineClient, first: string, news: RunNews): Promise<Run> {
  const { clock } = engine;
  let runId = first;
  let lostSinceMs: number | null = null;
  for (;;) {
    try {
      for await (const { data } of engine.follow<WatchRunResponse>((metadata) =>
        engine.runs.watchRun({ runId }, metadata),
      )) {
        if (lostSinceMs !== null) news.found();
        lostSinceMs = null;
        if (data === undefined) continue;
        await news.changed(data);
        // The stream follows a run that continues as new; so does one that is opened again.
        if (data.continuedAs !== '') runId = data.continuedAs;
        else if (isClosedState(data.state)) return data;
      }
      // A node that drains ends its streams well; another one knows the run.
      lostSinceMs ??= clock.monotonicMs();
    } catch (caught) {
      const error = DuctorError.from(caught);
      if (!PASSING.has(error.code)) throw error;
      if (lostSinceMs === null) news.lost(error);
      lostSinceMs ??= clock.monotonicMs();
      if (clock.monotonicMs() - lostSinceMs > PATIENCE_MS) throw error;
    }
    await sleep(clock, RETRY_MS);
  }
}
