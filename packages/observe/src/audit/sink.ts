/** Where audit records go. It is asked for one record after the other, never for two at once. */
export interface AuditSink {
  /** Keeps a record, a line of JSON without a line break, and settles once it is kept. */
  append(line: string): unknown
  /** The last record that it keeps, if any: a chain that was begun by another process goes on from it. */
  last?(): string | undefined | Promise<string | undefined>
}

/** Where a chain for each tenant goes, such as `audit` of a store. */
export interface AuditSinks {
  /** The sink of a tenant; `''` for who has none. */
  chainOf(tenant: string): AuditSink
}
