/**
 * The signals a run has received: those that no step has taken, in order of arrival, and the ids of the last time. An
 * update is a signal that is answered: the last answers are kept, for callers that ask again.
 * A persistent value: putting and taking make a new box and leave the old one as it is.
 *
 * 1. Of one name an id is put in once within SEEN_US, or within the last SEEN_MAX signals of that name.
 * 2. What is put depends on nothing but what was put before and its time: the fold of a journal gives the same box.
 */
import type { RunFailure } from './run-failure.js';
import type { Value } from './value.js';

/** A signal that a run has received and no step has taken. */
export interface Signal {
  readonly name: string;
  /** Of one name the same id is received once. */
  readonly id: string;
  readonly payload: Value;
  /** Who sent it, or who decided; empty when nobody is named. */
  readonly by: string;
}

/** What came of an update: one of output and error is there. */
export interface UpdateAnswer {
  readonly name: string;
  readonly id: string;
  readonly output: Value | null;
  readonly error: RunFailure | null;
}

/** Answers that are kept. */
const ANSWERS_MAX = 100;
/** Bytes of outputs of all answers but the last one that are kept. */
const ANSWER_BYTES_MAX = 1024 * 1024;

/** How long the id of a signal is remembered, microseconds. */
const SEEN_US = 24 * 3600 * 1_000_000;
/** How many ids of one name are remembered at least. */
const SEEN_MAX = 1_000;

/** Ids in two generations, so that adding one copies few: `young` joins `old` once it is full. */
interface SeenIds {
  readonly young: ReadonlyMap<string, number>;
  readonly old: ReadonlyMap<string, number>;
}

/** See above. */
export interface SignalBox {
  /** Received and not taken, in order of arrival. */
  readonly waiting: readonly Signal[];
  /** Bytes of their payloads. */
  readonly bytes: number;
  /** By name of the signal: when its ids came, microseconds since 1970. */
  readonly seen: ReadonlyMap<string, SeenIds>;
  /** Answers to updates, the last one last. */
  readonly answers: readonly UpdateAnswer[];
}

const YOUNG_MAX = 64;
const NO_IDS: SeenIds = { young: new Map(), old: new Map() };

/** A box that nothing was ever put in. */
export const EMPTY_BOX: SignalBox = { waiting: [], bytes: 0, seen: new Map(), answers: [] };

/** Joins both generations and forgets what is too old, or too much. */
function merged({ young, old }: SeenIds, nowUs: number): SeenIds {
  const all = [...old, ...young].filter(([, atUs]) => atUs > nowUs - SEEN_US);
  return { young: new Map(), old: new Map(all.slice(-SEEN_MAX)) };
}

/** Whether a signal of this name with this id was received and is remembered. */
export function hasSeen(box: SignalBox, name: string, id: string, nowUs: number): boolean {
  const ids = box.seen.get(name);
  const atUs = ids?.young.get(id) ?? ids?.old.get(id);
  return atUs !== undefined && atUs > nowUs - SEEN_US;
}

/** The box with one more signal. */
export function putSignal(box: SignalBox, signal: Signal, atUs: number): SignalBox {
  return {
    ...box,
    waiting: [...box.waiting, signal],
    bytes: box.bytes + signal.payload.data.byteLength,
    seen: withSeen(box, signal, atUs),
  };
}

/** The ids of a box with one more. */
function withSeen(box: SignalBox, { name, id }: Pick<Signal, 'name' | 'id'>, atUs: number): SignalBox['seen'] {
  const before = box.seen.get(name) ?? NO_IDS;
  const ids = before.young.size < YOUNG_MAX ? before : merged(before, atUs);
  const young = new Map(ids.young).set(id, atUs);
  return new Map(box.seen).set(name, { young, old: ids.old });
}

/** The answer to an update; undefined when there is none (any more). */
export function answerIn(box: SignalBox | undefined, name: string, id: string): UpdateAnswer | undefined {
  return box?.answers.find((answer) => answer.name === name && answer.id === id);
}

/** The box with one more answer. Its id counts as received, also when the update was refused. */
export function putAnswer(box: SignalBox, answer: UpdateAnswer, atUs: number): SignalBox {
  const kept: UpdateAnswer[] = [];
  let bytes = 0;
  for (const earlier of box.answers.slice(-(ANSWERS_MAX - 1)).reverse()) {
    bytes += earlier.output?.data.byteLength ?? 0;
    if (bytes > ANSWER_BYTES_MAX) break;
    kept.unshift(earlier);
  }
  const isSeen = hasSeen(box, answer.name, answer.id, atUs);
  return { ...box, answers: [...kept, answer], seen: isSeen ? box.seen : withSeen(box, answer, atUs) };
}

/** The box without a signal that is waiting in it; undefined when it is not. */
export function takeSignal(
  box: SignalBox,
  name: string,
  id: string,
): { readonly signal: Signal; readonly box: SignalBox } | undefined {
  const at = box.waiting.findIndex((signal) => signal.name === name && signal.id === id);
  const signal = box.waiting[at];
  if (signal === undefined) return undefined;
  const waiting = box.waiting.toSpliced(at, 1);
  return { signal, box: { ...box, waiting, bytes: box.bytes - signal.payload.data.byteLength } };
}

/** Estimate of the memory it takes, in bytes. */
export function boxBytes(box: SignalBox): number {
  let ids = 0;
  for (const { young, old } of box.seen.values()) ids += young.size + old.size;
  const answers = box.answers.reduce((sum, { output }) => sum + 200 + (output?.data.byteLength ?? 0), 0);
  return box.bytes + 200 * box.waiting.length + 100 * ids + answers;
}

/** All ids of a box with their times, for snapshots. */
export function seenOf(
  box: SignalBox,
): readonly { readonly name: string; readonly id: string; readonly atUs: number }[] {
  return [...box.seen].flatMap(([name, { old, young }]) =>
    [...old, ...young].map(([id, atUs]) => ({ name, id, atUs })),
  );
}

/** A box of these signals, ids as seenOf gave them, and answers. */
export function boxOf(
  waiting: readonly Signal[],
  seen: ReturnType<typeof seenOf>,
  answers: readonly UpdateAnswer[],
): SignalBox {
  const names = new Map<string, Map<string, number>>();
  for (const { name, id, atUs } of seen) {
    const ids = names.get(name) ?? new Map<string, number>();
    names.set(name, ids.set(id, atUs));
  }
  const bytes = waiting.reduce((sum, { payload }) => sum + payload.data.byteLength, 0);
  return { waiting, bytes, answers, seen: new Map([...names].map(([name, old]) => [name, { young: new Map(), old }])) };
}
