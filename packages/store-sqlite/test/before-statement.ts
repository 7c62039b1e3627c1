import Libsql from 'libsql'

/** Calls a function before each script that any database of this process runs: those that make its tables are scripts. */
export function beforeStatement(act: () => void): void {
  const { exec } = Libsql.prototype
  Libsql.prototype.exec = function (this: Libsql.Database, sql: string) {
    act()
    return exec.call(this, sql)
  } as typeof exec
}
