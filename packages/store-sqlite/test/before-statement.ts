import Libsql from 'libsql'

/**
 * Calls a function before each script that any database of this process runs: its transactions begin and end with one, and
 * those that make its tables are scripts.
 *
 * @returns what ends it
 */
export function beforeStatement(act: (db: Libsql.Database, sql: string) => void): () => void {
  const { exec } = Libsql.prototype
  Libsql.prototype.exec = function (this: Libsql.Database, sql: string) {
    act(this, sql)
    return exec.call(this, sql)
  } as typeof exec
  return () => {
    Libsql.prototype.exec = exec
  }
}
