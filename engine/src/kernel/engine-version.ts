/** Version of the engine: what `ductor --version` prints, and what stands in records of decisions. */
export const ENGINE_VERSION = '0.1.0';
