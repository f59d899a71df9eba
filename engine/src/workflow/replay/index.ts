/** Replay of journals: whether the machine still makes the same of what happened. */
export { replayBundle, type BundleReplay, type RunBundle } from './replay-bundle.js';
