/** Where audit records go. It is asked for one record after the other, never for two at once. */
export interface AuditSink {
  /**
   * Keeps a record, a line of JSON without a line break, and settles once it is kept. Gives `'known'` where it has one of this key
   * already, and keeps nothing: the process of a run died before it had noted that the record is written, and writes it again.
   *
   * @param key of the run, of what happened and where in it; the same in each life of the run. It stands in the line, too
   */
  append(line: string, key: string): unknown
  /** The last record that it keeps, if any: a chain that was begun by another process goes on from it. */
  last?(): string | undefined | Promise<string | undefined>
}

/** Where a chain for each tenant goes, such as `audit` of a store. */
export interface AuditSinks {
  /** The sink of a tenant; `''` for who has none. */
  chainOf(tenant: string): AuditSink
}
