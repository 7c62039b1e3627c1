/**
 * Counts the statements and commits of all databases that this process opens. A prepared statement counts each time it runs.
 *
 * @param drivers the classes of databases: of libsql, and of packages with the same interface
 */
export function countStatements(drivers) {
  const counts = { statements: 0, commits: 0 }
  for (const { prototype } of drivers) countIn(prototype, counts)
  return counts
}

function countIn(prototype, counts) {
  const { prepare, exec, transaction } = prototype
  const count = (sql) => {
    // Explicit transactions only: `begin` and `rollback` are not work.
    if (/^\s*commit/i.test(sql)) counts.commits++
    else if (!/^\s*(begin|rollback)/i.test(sql)) counts.statements++
  }
  prototype.exec = function (sql) {
    count(sql)
    return exec.call(this, sql)
  }
  prototype.prepare = function (sql) {
    const statement = prepare.call(this, sql)
    const writes = /^\s*(insert|update|delete|with)/i.test(sql)
    for (const method of ['run', 'get', 'all']) {
      const original = statement[method]
      statement[method] = (...values) => {
        count(sql)
        if (writes && !this.inTransaction) counts.commits++
        return original.apply(statement, values)
      }
    }
    return statement
  }
  // libsql runs its transactions through exec(), and better-sqlite3 does not.
  if (!transaction.toString().includes('exec('))
    prototype.transaction = function (work) {
      const wrapped = transaction.call(this, work)
      return (...values) => {
        counts.commits++
        return wrapped(...values)
      }
    }
}
