/** "Did you mean": the nearest of the names that exist. */

/** Names longer than this are not compared: the work grows with the product of both lengths. */
const MAX_LENGTH = 64;

/** Edits (insert, delete, replace, swap of neighbours) from one text to another: optimal string alignment. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replace = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let best = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, replace);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwap) best = Math.min(best, (beforeLast[j - 2] ?? 0) + 1);
      row.push(best);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? 0;
}

/**
 * The name a misspelt one probably means, at most a third of its letters away; undefined when none is near.
 *
 * @param text as it was written; upper and lower case count as equal
 * @param names those that exist; the first of equally near ones wins
 */
function nearest(text: string, names: Iterable<string>): string | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const allowed = Math.max(1, Math.floor(text.length / 3));
  let best: string | undefined;
  let bestDistance = allowed + 1;
  for (const name of names) {
    if (Math.abs(name.length - text.length) >= bestDistance || name.length > MAX_LENGTH) continue;
    const distance = editDistance(text.toLowerCase(), name.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [name, distance];
  }
  return best;
}

/** ` Did you mean "x"?`, or nothing. */
export function didYouMean(text: string, names: Iterable<string>): string {
  const name = nearest(text, names);
  return name === undefined ? '' : ` Did you mean ${JSON.stringify(name)}?`;
}
