/** Encoding of set-based statements. */
export { booleanArray, integerArray, uuidArray } from './array-parameters.js';
export { BatchBlob, type BlobSlice } from './batch-blob.js';
