/** Loaded with --import into an engine that shall be profiled: takes the bench's orders over IPC. */
import { profileOrder, request } from './messages.js';
import { obeyProfileOrder } from './profiler.js';

process.on('message', (message) => {
  const { id, order } = request.parse(message);
  obeyProfileOrder(profileOrder.parse(order)).then(
    () => process.send?.({ id }),
    (error: unknown) => process.send?.({ id, error: String(error) }),
  );
});
