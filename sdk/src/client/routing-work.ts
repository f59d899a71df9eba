/** Work that is to be routed, as callers give it and as it is sent. */
import { checkNames } from '../connection/field-checks.js';
import { timestampOf } from './run-view.js';

/** A unit of work that is to be routed. */
export interface WorkToRoute {
  /** Name that its sender has for it. */
  readonly id: string;
  readonly type?: string;
  /** What rules and scores read: JSON. */
  readonly attributes?: Readonly<Record<string, unknown>>;
  /** Higher is more urgent. Default 0. */
  readonly priority?: number;
  /** Says how many units it takes of a recipient. */
  readonly channel?: string;
  readonly requiredSkills?: readonly string[];
  /** Work with one key is decided once within the pool's dedupe window. */
  readonly dedupeKey?: string;
  /** From then on it is not routed. */
  readonly expiresAt?: Date;
  /** When it came in. Default: now. */
  readonly receivedAt?: Date;
}

/** What a preview may say beside the work. */
export interface PreviewOptions {
  /** The pool to begin with, by its id. Default: the rules say which. */
  readonly poolId?: string;
  /** This one and no other. */
  readonly recipientId?: string;
  readonly excludedRecipientIds?: readonly string[];
  /** Recipients it was offered to before, the last one first. */
  readonly previousRecipientIds?: readonly string[];
  /** Whether the answer says how it came about. Default false. */
  readonly explain?: boolean;
}

/** What a call of route may say beside the work. */
export interface RouteOptions extends PreviewOptions {
  /** The same key with the same request answers the decision that was made first, for 30 days. */
  readonly idempotencyKey?: string;
}

/** One of many works. */
export interface WorkOfMany extends RouteOptions {
  readonly work: WorkToRoute;
}

const WORK_FIELDS: Readonly<Record<keyof WorkToRoute, true>> = {
  ...{ id: true, type: true, attributes: true, priority: true, channel: true, requiredSkills: true },
  ...{ dedupeKey: true, expiresAt: true, receivedAt: true },
};
/** Names of the options of preview. */
export const PREVIEW_OPTIONS: Readonly<Record<keyof PreviewOptions, true>> = {
  ...{ poolId: true, recipientId: true, excludedRecipientIds: true, previousRecipientIds: true, explain: true },
};
/** Names of the options of route. */
export const ROUTE_OPTIONS: Readonly<Record<keyof RouteOptions, true>> = { ...PREVIEW_OPTIONS, idempotencyKey: true };

/** The request for a unit of work. Throws DuctorError invalid_argument for fields that there are not. */
export function requestOf(work: WorkToRoute, options: PreviewOptions) {
  checkNames('routable', work, WORK_FIELDS);
  const { attributes, requiredSkills, expiresAt, receivedAt, ...rest } = work;
  const { excludedRecipientIds = [], previousRecipientIds = [], ...said } = options;
  return {
    ...said,
    ...{ excludedRecipientIds: [...excludedRecipientIds], previousRecipientIds: [...previousRecipientIds] },
    routable: {
      ...rest,
      requiredSkills: [...(requiredSkills ?? [])],
      ...(attributes !== undefined && { attributes: { ...attributes } }),
      ...(expiresAt !== undefined && { expiresAt: timestampOf(expiresAt) }),
      ...(receivedAt !== undefined && { receivedAt: timestampOf(receivedAt) }),
    },
  };
}
