import Libsql from 'libsql'

/** What statements have read. */
export interface Reads {
  statements: number
  /** Bytes of all values of their rows. */
  bytes: number
}

/**
 * Counts the statements of the database that is opened next, and the bytes of their rows.
 *
 * @returns `take`, which returns the counts since the last call, and `end`
 */
export function countReads(): { take(): Reads; end(): void } {
  let reads: Reads = { statements: 0, bytes: 0 }
  let own: Libsql.Database | undefined
  const { prepare } = Libsql.prototype
  Libsql.prototype.prepare = function (this: Libsql.Database, sql: string) {
    const statement = prepare.call(this, sql)
    own ??= this
    if (this !== own) return statement
    for (const method of ['run', 'get', 'all'] as const) {
      const original = statement[method] as (...values: unknown[]) => unknown
      Object.assign(statement, {
        [method]: (...values: unknown[]) => {
          const result = original.apply(statement, values)
          reads.statements++
          if (method !== 'run') reads.bytes += bytesOf(result)
          return result
        },
      })
    }
    return statement
  } as typeof prepare
  return {
    take() {
      const taken = reads
      reads = { statements: 0, bytes: 0 }
      return taken
    },
    end() {
      Libsql.prototype.prepare = prepare
    },
  }
}

/** Bytes of all values in a row, or in several. */
export function bytesOf(value: unknown): number {
  if (value instanceof Uint8Array || value instanceof ArrayBuffer) return value.byteLength
  if (typeof value === 'string') return value.length
  return typeof value === 'object' && value !== null
    ? Object.values(value).reduce((sum: number, one) => sum + bytesOf(one), 0)
    : 0
}
