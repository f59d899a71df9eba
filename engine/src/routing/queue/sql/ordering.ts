/** The order of a queue in SQL (queue/order.ts says it in words). */

/** Expressions of what plays a part. */
export interface OrderingText {
  readonly ordering: string;
  readonly ageWeight: string;
  readonly boost: string;
  readonly priority: string;
  readonly queuedAt: string;
  readonly clockAt: string;
  readonly seq: string;
}

/** Rank and place of work, two columns. Numbers: up to 3.6e18 by weights of 1,000 each, which is within a bigint. */
export function placeText({ ordering, ageWeight, boost, priority, queuedAt, clockAt, seq }: OrderingText): string {
  return `case ${ordering} when 'priority_age' then ${priority}::bigint * 60000000 - ${queuedAt} * ${ageWeight}
          - ${clockAt} * ${boost}
        else 0 end as rank,
      case ${ordering} when 'lifo' then 1 else -1 end * (${queuedAt} * 1000 + ${seq}) as place`;
}
