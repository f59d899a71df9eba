/** What the rooms see of the database. */

/** A named prepared statement; the server parses it once a connection. */
export interface Prepared {
  /** Unique for the text: at most 63 bytes. */
  readonly name: string;
  readonly text: string;
}

/** A row as node-postgres gives it: bigint columns are numbers, bytea columns Buffers, timestamps Dates. */
export type Row = Record<string, unknown>;

/** What a statement answered. */
export interface Result<R extends Row = Row> {
  readonly rows: readonly R[];
  /** Rows returned, inserted, updated or deleted. */
  readonly rowCount: number;
}

/** Anything statements can be sent to. Errors: see classify. */
export interface Queryable {
  /**
   * Runs one statement. Throws a DuctorError whose cause is what node-postgres threw.
   *
   * @param statement its text, or a named prepared one for everything that runs often
   * @param values its parameters
   */
  query<R extends Row = Row>(statement: string | Prepared, values?: readonly unknown[]): Promise<Result<R>>;
}

/** Something that can run transactions. */
export interface Transactor extends Queryable {
  /** Runs the function inside a transaction: commits when it resolves, rolls back when it rejects. */
  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T>;
}

/** One dedicated session: a commit lane, a listener, a holder of session locks. */
export interface Connection extends Transactor {
  /** Process id of the session at the server. */
  readonly backendPid: number;
  /** Whether the session has ended. */
  readonly isLost: boolean;
  /** Calls back once when the session ends without close(). */
  onLost(callback: (error: Error) => void): void;
  /** Calls back for each NOTIFY on a channel the session listens to. */
  onNotification(callback: (channel: string, payload: string) => void): void;
  /** Ends the session politely. */
  close(): Promise<void>;
  /** Cuts the session off without waiting for what it does. */
  destroy(): void;
}

/** What a dedicated session is for. */
export interface ConnectOptions {
  /** Shown in pg_stat_activity behind the application name: "ductor lane plain". */
  readonly name: string;
  /** Whether the session is a commit lane: short timeouts, stable plans (session.ts). Default false. */
  readonly isLane?: boolean;
}

/** Access for callers: one tenant at a time. */
export interface TenantAccess {
  /**
   * Statements and transactions that see rows of this tenant only and can write no others, as the role ductor_api under
   * row-level security. A statement takes one round trip, as without a tenant.
   *
   * @param tenantId a UUID, else statements throw internal
   */
  asTenant(tenantId: string): Transactor;
}

/** A pool of sessions to one database. */
export interface Database extends Transactor, TenantAccess {
  /** Opens a dedicated session. */
  connect(options: ConnectOptions): Promise<Connection>;
  /** Ends all pooled sessions; dedicated ones are their owners' to close. */
  close(): Promise<void>;
}
