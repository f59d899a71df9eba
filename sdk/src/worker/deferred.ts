/** A promise and its ends. */
export interface Deferred {
  readonly promise: Promise<void>;
  resolve(): void;
  reject(error: Error): void;
}

/** A new one. That it is rejected and nobody listens is no error. */
export function deferred(): Deferred {
  let resolve: () => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<void>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  // Nobody has to listen: a worker that nobody waits for reports through its log.
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}
