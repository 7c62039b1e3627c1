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

/**
 * The same for the database that is opened next. Other tests of this process may have left databases, which sync a second later.
 *
 * @returns what ends it
 */
export function beforeStatementOfNext(act: (sql: string) => void): () => void {
  let own: Libsql.Database | undefined
  return beforeStatement((db, sql) => {
    own ??= db
    if (db === own) act(sql)
  })
}

/**
 * Calls a function before each pragma that any database of this process asks.
 *
 * @returns what ends it
 */
export function beforePragma(act: (text: string) => void): () => void {
  const { pragma } = Libsql.prototype
  Libsql.prototype.pragma = function (this: Libsql.Database, text: string, ...rest: []) {
    act(text)
    return pragma.call(this, text, ...rest)
  } as typeof pragma
  return () => {
    Libsql.prototype.pragma = pragma
  }
}
