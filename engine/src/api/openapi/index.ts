/** The OpenAPI document, built from descriptors alone: scripts/generate.mjs builds it before any code is generated. */
export { readContract } from '../contract/contract.js';
export { openApiDocument } from './document.js';
