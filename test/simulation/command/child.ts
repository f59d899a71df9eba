/** A process of the simulator: gets tasks over IPC, one at a time, and answers each. */
import { doTask, type Task } from './task.js';

process.on('message', (task: Task) => {
  void doTask(task).then((answer) => process.send?.(answer));
});
process.on('disconnect', () => process.exit(0));
