/** Stores audit records. It receives the next ones when the earlier ones are stored. */
export interface AuditSink {
  /**
   * Stores a record, one line of JSON, and resolves once it is stored. Returns `'known'` and stores nothing if it has a record with this
   * key:
   * the process of a run died before it noted that the record was written, and the record is written again.
   *
   * @param key identifies the event and its position in the run, the same each time the run is restarted. The line contains it, too
   */
  append(line: string, key: string): unknown
  /**
   * Stores several records in their order, all or none, for example in one statement. Called for the records that are waiting when an
   * earlier write ends. Returns the keys of the records that it already has: if there are any, it stores nothing. Without this method,
   * records are stored one after the other.
   */
  appendAll?(records: readonly AuditLine[]): Promise<readonly string[]>
  /** Returns the last stored record, if there is one. A chain that another process began continues from it. */
  last?(): string | undefined | Promise<string | undefined>
}

/** A record as one line of JSON, with its key. */
export interface AuditLine {
  readonly line: string
  readonly key: string
}

/** A sink with a chain per tenant, such as `audit` of a store. */
export interface AuditSinks {
  /** Returns the sink of a tenant; `''` for no tenant. */
  chainOf(tenant: string): AuditSink
}
