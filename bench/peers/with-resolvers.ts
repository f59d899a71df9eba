/** Promise.withResolvers for Node 20: Restate's SDK calls it, and only newer Nodes have it. Import before the SDK. */

interface Resolvers {
  readonly promise: Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

function withResolvers(): Resolvers {
  let resolve: Resolvers['resolve'] = () => undefined;
  let reject: Resolvers['reject'] = () => undefined;
  const promise = new Promise<unknown>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

if (!('withResolvers' in Promise)) Object.defineProperty(Promise, 'withResolvers', { value: withResolvers });
