/** The order of a queue in SQL (queue/order.ts says it in words). */

/** Rank and place of work, from expressions of its columns, two columns. */
export function placeText(ordering: string, weight: string, priority: string, queuedAt: string, seq: string): string {
  return `case ${ordering} when 'priority_age' then ${priority}::bigint * 60000000 - ${queuedAt} * ${weight}
        else 0 end as rank,
      case ${ordering} when 'lifo' then 1 else -1 end * (${queuedAt} * 1000 + ${seq}) as place`;
}
