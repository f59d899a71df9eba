// Loaded with --import into an engine: as a fault in native code would, it ends the process while a run advances over a
// value that holds DEADLY_VALUE.
const { parse } = JSON;
const deadly = process.env['DEADLY_VALUE'] ?? '';
JSON.parse = (text, ...rest) => {
  if (deadly !== '' && typeof text === 'string' && text.includes(deadly)) {
    const { stack = '' } = new Error('where from');
    if (stack.includes('machine/advance')) process.kill(process.pid, 'SIGKILL');
  }
  return parse(text, ...rest);
};
Error.stackTraceLimit = 60;
