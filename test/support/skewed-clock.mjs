// Loaded with --import into an engine: its machine's clock is wrong by CLOCK_SKEW_MS from the start.
const { now } = Date;
const skewMs = Number(process.env['CLOCK_SKEW_MS'] ?? 0);
Date.now = () => now() + skewMs;
