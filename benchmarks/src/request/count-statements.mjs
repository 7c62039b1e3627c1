import Libsql from 'libsql'

/** Counts the statements and commits of all databases that this process opens. A prepared statement counts each time it runs. */
export function countStatements() {
  const counts = { statements: 0, commits: 0 }
  const { prepare, exec } = Libsql.prototype
  Libsql.prototype.exec = function (sql) {
    // Explicit transactions only: `begin` and `rollback` are not work.
    if (/^\s*commit/i.test(sql)) counts.commits++
    else if (!/^\s*(begin|rollback)/i.test(sql)) counts.statements++
    return exec.call(this, sql)
  }
  Libsql.prototype.prepare = function (sql) {
    const statement = prepare.call(this, sql)
    const writes = /^\s*(insert|update|delete|with)/i.test(sql)
    for (const method of ['run', 'get', 'all']) {
      const original = statement[method]
      statement[method] = (...values) => {
        counts.statements++
        if (writes && !this.inTransaction) counts.commits++
        return original.apply(statement, values)
      }
    }
    return statement
  }
  return counts
}
