/**
 * Asks strategies in apps' code before a decision is made: whom of those who may be chosen now they would choose. What
 * they answer is an input of the decision. Nothing is locked meanwhile; whoever was named and may not be chosen any
 * more when the decision is made is passed over.
 *
 * An answer counts when it names candidates that it was given and no others, each once.
 */
import { msOf } from '../../pools/index.js';
import { answerKey, type Answer } from '../core/answer.js';
import type { PoolView } from '../pipeline/view.js';
import type { RouteAsk } from './ask.js';
import { isUnasked, type Asked } from './asked.js';
import type { LaneParts } from './lane-parts.js';
import type { SharedReads, Views } from './shared-reads.js';
import type { StrategyReply } from './strategy-apps.js';

/** Work for which apps are asked. */
export interface AskingCall {
  readonly tenantId: string;
  readonly ask: RouteAsk;
  readonly decisionId: string;
  /** By pool. */
  readonly answers: Map<string, Asked>;
  /** Time that was spent on it. */
  spentUs: number;
}

/** Characters of ids that are no candidates, in notes. */
const SHOWN_CHARS = 64;

/** What becomes of a reply: it counts, or it does not and the note says why. */
export function answerOf(reply: StrategyReply, given: ReadonlySet<string>): Answer {
  if (reply.kind === 'none') return { ids: undefined, note: reply.why };
  const invented = reply.ids.find((id) => !given.has(id));
  if (invented !== undefined) {
    const shown = JSON.stringify(invented.slice(0, SHOWN_CHARS));
    return { ids: undefined, note: `named ${shown}, which is no candidate` };
  }
  if (new Set(reply.ids).size < reply.ids.length) return { ids: undefined, note: 'named a candidate twice' };
  return { ids: reply.ids, note: `by ${reply.by}` };
}

/** See above. */
export class Asking {
  readonly #parts: LaneParts;
  readonly #reads: SharedReads;

  constructor(parts: LaneParts, reads: SharedReads) {
    this.#parts = parts;
    this.#reads = reads;
  }

  /** Whether one of the pools has to be asked about before the decision. */
  isDue(call: Pick<AskingCall, 'ask' | 'answers'>, views: Views, poolIds: Iterable<string>): boolean {
    for (const id of poolIds) {
      const view = views.get(id);
      if (view !== undefined && isUnasked(view, call)) return true;
    }
    return false;
  }

  /** Asks about those of the pools that have to be asked about. Throws database_unavailable. */
  async fill(call: AskingCall, views: Views): Promise<void> {
    const due = [...views.values()].flatMap((view) => (view !== undefined && isUnasked(view, call) ? [view.id] : []));
    if (due.length === 0) return;
    const { clock } = this.#parts;
    const beganMs = clock.monotonicMs();
    const { parts, world } = await this.#reads.read(call.tenantId, new Set(due));
    const asked = due.map(async (id) => {
      const view = parts.views.get(id);
      if (view !== undefined) call.answers.set(id, await this.#askAll(call, view, world.look(id, call)));
    });
    await Promise.all(asked);
    call.spentUs += Math.round((clock.monotonicMs() - beganMs) * 1000);
  }

  async #askAll({ tenantId, ask, decisionId }: AskingCall, view: PoolView, found: Found): Promise<Asked> {
    // Nobody may be chosen: there is nothing to ask.
    if (found.length === 0) return { version: view.version, answers: new Map() };
    const given = new Set(found.map(({ candidate }) => candidate.id));
    const entries = view.compiled.customs.map(async (params): Promise<[string, Answer]> => {
      const { name, version, timeout } = params;
      const reply = await this.#parts.apps.ask({
        ...{ tenantId, decisionId, name, version, ask, timeoutMs: msOf(timeout) },
        ...{ poolId: view.id, poolName: view.document.fields.name, candidates: found },
      });
      return [answerKey(params), answerOf(reply, given)];
    });
    return { version: view.version, answers: new Map(await Promise.all(entries)) };
  }
}

type Found = Parameters<LaneParts['apps']['ask']>[0]['candidates'];
