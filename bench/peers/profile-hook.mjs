// Loaded with --import into a process that shall be profiled: starts and stops V8's profiler on orders over IPC, so
// that a profile holds the measured time alone. Orders: {id, order: {do: 'profile-start'}}, 'profile-stop' with a file.
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';

/** Microseconds between samples. */
const INTERVAL_US = 500;
const session = new Session();
session.connect();

async function obey(order) {
  if (order.do === 'profile-start') {
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: INTERVAL_US });
    await session.post('Profiler.start');
    return;
  }
  const { profile } = await session.post('Profiler.stop');
  writeFileSync(order.file, JSON.stringify(profile));
}

process.on('message', ({ id, order }) => {
  if (!String(order.do).startsWith('profile-')) return;
  obey(order).then(
    () => process.send({ id }),
    (error) => process.send({ id, error: String(error) }),
  );
});
// Listening for orders must not keep a process alive that is done.
process.channel?.unref();
