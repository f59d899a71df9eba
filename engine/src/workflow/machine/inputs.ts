/** What goes into the machine (facts from outside) and what comes out of it. */
import type { Want } from '../../capacity/index.js';
import type { ClosedStatus, Entry } from './entries.js';
import type { KeptStep } from './fork.js';
import type { HoldingFamily, Selected, Selecting } from './selecting.js';
import type { RouteAnswer, RoutingWork, Unqueued, Withdrawal } from './routing-work.js';
import type { Signal } from './signal-box.js';
import type { Plan } from './plan.js';
import type { ErrorCause, FamilyLink, ForkLink, RunFailure, RunState } from './state.js';
import type { Value } from './value.js';

/** How an attempt ended, as its worker says. */
export type AttemptOutcome =
  | { readonly kind: 'completed'; readonly output: Value }
  | {
      readonly kind: 'failed';
      readonly code: string;
      readonly message: string;
      readonly stack: string;
      /** As in RunFailure. */
      readonly causes?: readonly ErrorCause[];
      /** The body said that another attempt is useless. */
      readonly nonRetryable: boolean;
      /** Earliest next attempt in ms from now; null: by the policy. */
      readonly retryAfterMs: number | null;
    }
  | { readonly kind: 'cancelled' };

/** What work came to that has waited. */
export type ToldAnswer =
  | { readonly kind: 'routed'; readonly output: Value }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string; readonly isRetryable: boolean };

/** What a run that another one starts is to be. */
export interface Birth {
  readonly familySlug: string;
  /** 0: the current one. */
  readonly version: number;
  readonly family: FamilyLink;
}

/** What a run says to another: it goes into the mailbox with the very row that says it. */
export interface RunMessage {
  /** The run that is to hear it; it need not exist yet. */
  readonly runId: string;
  readonly input: Extract<RunInput, { readonly kind: 'start' | 'cancel' | 'terminate' | 'child_closed' }>;
}

/** A fact from outside. Applying one twice equals applying it once (M1). */
export type RunInput =
  | {
      readonly kind: 'start';
      readonly input: Value;
      readonly attributes: Readonly<Record<string, string>>;
      /** W3C trace context of the trigger; absent: none. */
      readonly traceparent?: string;
      /** Its chain is the only open one with this key; absent: it has none. */
      readonly runKey?: string;
      /** A step of another run starts it. Absent: somebody from outside does. */
      readonly birth?: Birth;
      /** It takes over steps of another run. Absent: it does not. */
      readonly fork?: ForkLink & { readonly kept: readonly KeptStep[] };
      /** Why it fails at once. Absent: it does not. */
      readonly refusal?: { readonly code: string; readonly message: string };
    }
  /** The child run that a step waits for has ended. */
  | {
      readonly kind: 'child_closed';
      readonly path: string;
      readonly runId: string;
      readonly status: ClosedStatus;
      readonly output: Value | null;
      readonly error: RunFailure | null;
    }
  /** What became of the claim item that a step waits for. */
  | {
      readonly kind: 'claim_told';
      readonly path: string;
      readonly itemId: string;
      readonly what: 'claimed' | 'completed' | 'expired' | 'withdrawn';
      /** Of the step, where it was claimed or completed. */
      readonly output: Value | null;
    }
  /** What became of the work that a step waits for in the queue of a pool. */
  | {
      readonly kind: 'route_told';
      readonly path: string;
      readonly workId: string;
      readonly answer: ToldAnswer;
    }
  | { readonly kind: 'result'; readonly path: string; readonly attempt: number; readonly outcome: AttemptOutcome }
  /** The body of the attempt has done a part of its work. */
  | {
      readonly kind: 'sub_step';
      readonly path: string;
      readonly attempt: number;
      readonly name: string;
      readonly output: Value;
    }
  /** The attempt has been on this worker since startedAtUs. */
  | {
      readonly kind: 'running';
      readonly path: string;
      readonly attempt: number;
      readonly worker: string;
      readonly startedAtUs: number;
    }
  /** The worker of the attempt is gone for good. */
  | { readonly kind: 'lost'; readonly path: string; readonly attempt: number }
  /** What a step, or with an empty path the run, asked for is granted; startAtUs null: it may be, ask again. */
  | { readonly kind: 'semaphore'; readonly path: string; readonly ticket: number; readonly startAtUs: number | null }
  /** The attempt gave no sign of life for its heartbeat timeout. */
  | { readonly kind: 'silent'; readonly path: string; readonly attempt: number }
  /** Time has passed: everything due at nowUs happens. */
  | { readonly kind: 'wake' }
  | { readonly kind: 'cancel'; readonly reason: string; readonly requestedBy: string }
  | { readonly kind: 'park'; readonly code: string; readonly message: string }
  | { readonly kind: 'pause'; readonly reason: string; readonly requestedBy: string }
  /** Ends parking and pause. */
  | { readonly kind: 'resume'; readonly requestedBy?: string }
  /** Ends parking; the step that parked the run is tried again at once. */
  | { readonly kind: 'retry'; readonly requestedBy: string }
  | { readonly kind: 'terminate'; readonly reason: string; readonly requestedBy: string }
  /** Somebody says something to the run; whoever sent it has been told that the run will hear it. */
  | ({ readonly kind: 'signal' } & Signal);

/** What the shell does after the commit. All of it is derivable from the state, so a crash loses nothing. */
export type Command =
  | { readonly kind: 'dispatch'; readonly path: string; readonly attempt: number }
  | {
      readonly kind: 'abort';
      readonly path: string;
      readonly attempt: number;
      readonly reason: 'cancelled' | 'timed_out' | 'superseded';
    }
  /** Takes the attempt off the queue unless a worker has it. */
  | { readonly kind: 'withdraw'; readonly path: string; readonly attempt: number };

/** Everything that varies, as an argument. */
export interface MachineContext {
  /** Estimated database time less its error bound, microseconds since 1970: what is due at it is surely due. */
  readonly nowUs: number;
  /** Seed of this tick's random choices (retry jitter), 32 bits. */
  readonly seed: number;
  /** A new id, of a shard where one is given. */
  readonly newId: (shard?: number) => string;
  /** The current version of the workflow, for steps that continue with it. Absent: the one that the run executes. */
  readonly current?: Plan | undefined;
  /** What an attempt reported last of its progress, as far as this node knows. Absent: nothing is known. */
  readonly progressOf?: (path: string, attempt: number) => Value | null;
  /** Decides what is granted. Absent: nothing is, whoever asks stands in line. */
  readonly gate?: Gate;
}

/** Who grants what steps and runs ask for: by arithmetic under locks, in the very commit of the tick. */
export interface Gate {
  /** Asks, or asks again. Returns when it may begin, 0: at once; null: it stands in line. */
  ask(path: string, ticket: number, wants: readonly Want[]): number | null;
  /** Gives back what is held, or leaves the line. */
  release(path: string, wants: readonly Want[]): void;
  /** Asks for recipients. Null: there is no answer before they are locked. */
  select(selecting: Selecting): Selected | null;
  /** Asks for a decision and its assignments. Null: there is no answer before they are locked. */
  route(work: RoutingWork): RouteAnswer | null;
  /** Takes the work of a step out of its claim queue, unless somebody has it. Null: there is no answer yet. */
  withdraw(itemId: string): Withdrawal | null;
  /** Takes the work of a step out of the queue of a pool, unless it has left that. Null: there is no answer yet. */
  unqueue(workId: string): Unqueued | null;
  /** A step of a run in a family that may hold recipients starts a child. */
  bear(family: HoldingFamily, childId: string): void;
  /** A run in such a family ends for good: its chain, and what is above it, may hold nothing any more. */
  close(family: HoldingFamily): void;
}

/** Whether an input changed anything. */
export type Disposition = 'applied' | 'ignored';

/** Result of a tick. `entries` empty: nothing changed, nothing is to be written, `state` is the one given. */
export interface Advance {
  readonly state: RunState;
  readonly entries: readonly Entry[];
  readonly commands: readonly Command[];
  /** To be written in the commit of the entries. */
  readonly messages: readonly RunMessage[];
  /** The run that continues this one after its first row: written in the commit of the entries, too. */
  readonly successor: { readonly entries: readonly Entry[]; readonly state: RunState } | null;
  /** One per input, in order. */
  readonly dispositions: readonly Disposition[];
}

/** Inputs that travel as messages; a start is that of a run which another one starts. */
export type MessageKind =
  | 'cancel'
  | 'result'
  | 'terminate'
  | 'pause'
  | 'resume'
  | 'retry'
  | 'signal'
  | 'start'
  | 'child_closed'
  | 'claim_told'
  | 'route_told'
  | 'sub_step'
  | 'semaphore';
