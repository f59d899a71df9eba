/** Spans of what happens to a run between its trigger and the worker: commits, and waits for a worker. */
import type { DispatchWatch } from './bridge/index.js';
import type { Clock } from './kernel/index.js';
import { coordinatorHooks } from './coordinator-hooks.js';
import { type Log, type Metrics, type OpenSpan, openTracing, type Tracing } from './telemetry/index.js';
import type { CoordinatorHooks } from './workflow/index.js';

/** Runs a commit's span names and links to; a commit may hold a thousand. */
const MAX_MEMBERS = 64;

/** What watches a node at work. */
export interface Observers {
  /** null: nobody traces. */
  readonly tracing: Tracing | null;
  readonly hooks: CoordinatorHooks;
  /** For the bridge's options. */
  readonly watching: { readonly watch?: DispatchWatch };
}

/** Feeds metrics and log, and makes spans where a tracer provider is registered. */
export function observers(metrics: Metrics, log: Log, clock: Clock): Observers {
  const [tracing, hooks] = [openTracing(), coordinatorHooks(metrics, log)];
  if (tracing === null) return { tracing, hooks, watching: {} };
  return { tracing, hooks: tracedHooks(hooks, tracing, clock), watching: { watch: tracedDispatch(tracing) } };
}

/** Hooks that also make a span of each commit, linked to the traces of its runs. */
function tracedHooks(hooks: CoordinatorHooks, tracing: Tracing, clock: Clock): CoordinatorHooks {
  return {
    ...hooks,
    batch(facts) {
      hooks.batch(facts);
      const members = facts.members().slice(0, MAX_MEMBERS);
      const endMs = clock.nowUs() / 1_000;
      tracing.record('ductor.commit', {
        startMs: endMs - facts.computeMs - facts.commitMs,
        endMs,
        attributes: {
          'ductor.runs': facts.runs,
          'ductor.bytes': facts.bytes,
          'ductor.outcome': facts.outcome,
          'ductor.run_id': members.map(({ runId }) => runId),
        },
        links: members.map(({ traceparent }) => traceparent).filter((link) => link !== undefined),
      });
    },
  };
}

/** Makes a span of each wait for a worker, in the trace of the task's run. */
function tracedDispatch(tracing: Tracing): DispatchWatch {
  // By task, weakly: one that is forgotten leaves nothing behind, and its span is never ended.
  const open = new WeakMap<object, OpenSpan>();
  return {
    queued(task) {
      const span = tracing.begin('ductor.dispatch', {
        parent: task.traceparent,
        kind: 'producer',
        attributes: {
          'ductor.tenant_id': task.tenantId,
          'ductor.workflow': task.familySlug,
          'ductor.run_id': task.runId,
          'ductor.step': task.path,
          'ductor.attempt': task.attempt,
          'ductor.queue': task.queue,
        },
      });
      open.set(task, span);
    },
    handedOut(task) {
      open.get(task)?.end();
      open.delete(task);
    },
  };
}
