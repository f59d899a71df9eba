/** Any texts as an array literal; for short ones (names, keys), which number few beside the ids of a batch. */
export function textArray(items: readonly string[]): string {
  return `{${items.map((item) => `"${item.replace(/[\\"]/g, '\\$&')}"`).join(',')}}`;
}
