/** The pure functions of machine and journal that the coordinator lives by, in one place. */
export {
  abortsOf,
  advance,
  dispatchesOf,
  emptyRun,
  headerChanged,
  headerOf,
  isActive,
  isContinued,
  isGivenUp,
  runOutput,
  stepAt,
  stateBytes,
  taskOf,
  wakeAtUs,
} from '../machine/index.js';
export {
  decodeInput,
  encodeInput,
  encodeEntries,
  encodeSnapshot,
  openRun,
  payloadShelf,
  payloadSink,
  snapshotDue,
  type OpenRun,
} from '../journal/index.js';
