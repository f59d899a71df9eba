/** Version of this SDK, as workers and tracers name it. */
export const SDK_VERSION = '0.1.0';
