/** The UTC day as days since 1970, by the database's clock: an SQL expression. */
export const TODAY = `(ductor.now_us() / 86400000000)::integer`;
