/** Claim queues: where work waits that recipients take by themselves. */

/** What a user may write of a queue. */
export interface ClaimQueueFields {
  readonly name: string;
  readonly description: string;
  readonly metadata: Readonly<Record<string, string>>;
}

/** A queue. */
export interface ClaimQueue {
  readonly tenantId: string;
  readonly id: string;
  readonly version: number;
  readonly fields: ClaimQueueFields;
  readonly createdAtUs: number;
  readonly updatedAtUs: number;
}
