/** Waiting by the machine's clock. */

/** Resolves after so many ms. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** Waits until the look is true. Throws after the limit, with the detail. */
export async function until(
  what: string,
  look: () => boolean | Promise<boolean>,
  { limitMs = 60_000, everyMs = 20, detail = (): string => '' } = {},
): Promise<void> {
  const endMs = performance.now() + limitMs;
  while (!(await look())) {
    if (performance.now() > endMs) throw new Error(`waited ${limitMs} ms for ${what}\n${detail()}`);
    await sleep(everyMs);
  }
}
