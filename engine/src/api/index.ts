/** The doors of a node. */
export { createDoors, type Doors } from './doors.js';
export { readPem } from './port/read-pem.js';
export type { TlsFiles } from './port/tls.js';
export type { MetricsAccess } from './http/pages/metrics-access.js';
export { contractJson, type ContractJson } from './json/contract-json.js';
