/**
 * Asks the strategies in apps' code that the sessions of this node bring: one app a question, in turns.
 *
 *   a question: with a session -> answered | out of time
 *                             -> with another session (its session ended), or given up where there is none
 *
 * Invariants:
 * 1. Every question is settled once, by its deadline.
 * 2. An answer settles the question of its own session only.
 * 3. A session that let TRIP questions in a row run out of time is not asked for a while (breaker.ts), so that an app
 *    that hangs does not cost every decision its deadline.
 */
import type { Clock, Timer } from '../../kernel/index.js';
import type { StrategyApps, StrategyQuestion, StrategyReply } from '../../routing/index.js';
import {
  StrategyQuestion as WireQuestion,
  type StrategyAnswer,
  type StrategyRegistration,
} from '../../gen/ductor/v1/strategy.js';
import { Breaker } from '../callback/breaker.js';
import { MAX_PROBLEM_CHARS, MAX_QUESTION_BYTES, MAX_QUESTIONS } from '../limits.js';
import { questionToWire } from '../wire/question-to-wire.js';

/** A session that has strategies. */
interface Provider<S> {
  readonly session: S;
  /** For people. */
  readonly by: string;
  /** Versions by name. */
  readonly versions: ReadonlyMap<string, string>;
  readonly breaker: Breaker;
  readonly waiting: Map<bigint, Waiting>;
}

/** A question that was put. */
interface Waiting {
  readonly question: StrategyQuestion;
  readonly endsAtMs: number;
  readonly timer: Timer;
  readonly settle: (reply: StrategyReply) => void;
  /** Where it is; undefined: with nobody. */
  place: { readonly waiting: Map<bigint, Waiting>; readonly breaker: Breaker; readonly id: bigint } | undefined;
  isProbe: boolean;
}

const none = (why: string): StrategyReply => ({ kind: 'none', why });

/** Text of an app as a note holds it. */
function shown(text: string): string {
  return text.slice(0, MAX_PROBLEM_CHARS).replaceAll(/\p{Cc}+/gu, ' ');
}

/** See above; S is a session. */
export class StrategyDesk<S> implements StrategyApps {
  readonly #clock: Clock;
  readonly #send: (session: S, question: WireQuestion, bytes: number) => void;
  readonly #ofTenant = new Map<string, Provider<S>[]>();
  readonly #ofSession = new Map<S, { readonly tenantId: string; readonly provider: Provider<S> }>();
  #lastId = 0n;
  #turn = 0;

  /** @param send puts a question to a session; at once or at the end of the turn */
  constructor(clock: Clock, send: (session: S, question: WireQuestion, bytes: number) => void) {
    this.#clock = clock;
    this.#send = send;
  }

  /** A session of a tenant has come and has these. */
  join(session: S, tenantId: string, by: string, strategies: readonly StrategyRegistration[]): void {
    if (strategies.length === 0) return;
    const versions = new Map(strategies.map(({ name, version }) => [name, version]));
    const provider = { session, by: shown(by), versions, breaker: new Breaker(), waiting: new Map<bigint, Waiting>() };
    this.#ofSession.set(session, { tenantId, provider });
    this.#ofTenant.set(tenantId, [...(this.#ofTenant.get(tenantId) ?? []), provider]);
  }

  /** A session has ended: what it was asked, another one is asked. */
  leave(session: S): void {
    const known = this.#ofSession.get(session);
    if (known === undefined) return;
    const { tenantId, provider } = known;
    this.#ofSession.delete(session);
    const left = (this.#ofTenant.get(tenantId) ?? []).filter((each) => each !== provider);
    if (left.length === 0) this.#ofTenant.delete(tenantId);
    else this.#ofTenant.set(tenantId, left);
    for (const waiting of provider.waiting.values()) {
      const why = this.#put(waiting);
      if (why !== undefined) waiting.settle(none(why));
    }
  }

  /** A session answers. One that is not waited for any more is passed over. */
  answered(session: S, { questionId, outcome }: StrategyAnswer): void {
    const provider = this.#ofSession.get(session)?.provider;
    const waiting = provider?.waiting.get(questionId);
    if (provider === undefined || waiting === undefined) return;
    provider.waiting.delete(questionId);
    provider.breaker.succeeded();
    if (outcome?.$case === 'ranking') {
      waiting.settle({ kind: 'ranking', ids: outcome.value.recipientIds, by: provider.by });
    } else waiting.settle(none(outcome === undefined ? 'answered nothing' : `failed: ${shown(outcome.value)}`));
  }

  ask(question: StrategyQuestion): Promise<StrategyReply> {
    const { timeoutMs } = question;
    return new Promise((resolve) => {
      const endsAtMs = this.#clock.monotonicMs() + timeoutMs;
      const timer = this.#clock.setTimer(timeoutMs, () => this.#late(waiting));
      const settle = (reply: StrategyReply): void => {
        timer.cancel();
        resolve(reply);
      };
      const waiting: Waiting = { question, endsAtMs, timer, settle, place: undefined, isProbe: false };
      const why = this.#put(waiting);
      if (why !== undefined) settle(none(why));
    });
  }

  /** Puts the question to whose turn it is; why it cannot be put. */
  #put(waiting: Waiting): string | undefined {
    const { tenantId, name, version } = waiting.question;
    const nowMs = this.#clock.monotonicMs();
    const able = (this.#ofTenant.get(tenantId) ?? []).filter(({ versions }) => {
      const has = versions.get(name);
      return has !== undefined && (version === '' || version === has);
    });
    if (able.length === 0) return 'is served by no app';
    const free = able.filter((each) => isFree(each, nowMs));
    const provider = free[(this.#turn += 1) % Math.max(1, free.length)];
    if (provider === undefined) return 'is served by apps that do not answer at the moment';
    const id = (this.#lastId += 1n);
    const leftMs = Math.max(1, Math.floor(waiting.endsAtMs - nowMs));
    const wire = questionToWire(waiting.question, id, provider.versions.get(name) ?? '', leftMs);
    const bytes = WireQuestion.encode(wire).finish().length;
    if (bytes > MAX_QUESTION_BYTES) return `was not asked, since its candidates are ${bytes} bytes`;
    waiting.isProbe = provider.breaker.circuit(nowMs) === 'half_open';
    waiting.place = { waiting: provider.waiting, breaker: provider.breaker, id };
    provider.waiting.set(id, waiting);
    this.#send(provider.session, wire, bytes);
    return undefined;
  }

  #late(waiting: Waiting): void {
    waiting.place?.waiting.delete(waiting.place.id);
    waiting.place?.breaker.failed(this.#clock.monotonicMs(), waiting.isProbe);
    waiting.settle(none(`did not answer within ${waiting.question.timeoutMs} ms`));
  }
}

/** Whether it may be asked now: of those that are on trial, one question at a time. */
function isFree({ breaker, waiting }: Provider<unknown>, nowMs: number): boolean {
  const circuit = breaker.circuit(nowMs);
  if (circuit === 'open' || waiting.size >= MAX_QUESTIONS) return false;
  return circuit === 'closed' || ![...waiting.values()].some(({ isProbe }) => isProbe);
}
