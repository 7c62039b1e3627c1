/**
 * Counts the statements and commits of all databases that this process opens, and how many commits sync. A prepared statement counts
 * each time it runs.
 *
 * @param drivers the classes of databases: of libsql, and of packages with the same interface
 */
export function countStatements(drivers) {
  const counts = { statements: 0, commits: 0, syncs: 0 }
  for (const { prototype } of drivers) countIn(prototype, counts)
  return counts
}

function countIn(prototype, counts) {
  const { prepare, exec, transaction } = prototype
  /** Databases whose commits do not sync now. */
  const unsynced = new WeakSet()
  const commit = (db) => {
    counts.commits++
    if (!unsynced.has(db)) counts.syncs++
  }
  const count = (db, sql) => {
    const [, level] = /synchronous = (\w+)/i.exec(sql) ?? []
    if (level !== undefined) unsynced[level === 'full' ? 'delete' : 'add'](db)
    // Explicit transactions only: `begin`, `rollback` and their pragmas are not work.
    if (/^\s*commit/i.test(sql)) commit(db)
    else if (!/^\s*(begin|rollback|pragma)/i.test(sql)) counts.statements++
  }
  prototype.exec = function (sql) {
    count(this, sql)
    return exec.call(this, sql)
  }
  prototype.prepare = function (sql) {
    const statement = prepare.call(this, sql)
    const writes = /^\s*(with\b[\s\S]*\b)?(insert|update|delete)\b/i.test(sql)
    for (const method of ['run', 'get', 'all']) {
      const original = statement[method]
      statement[method] = (...values) => {
        count(this, sql)
        if (writes && !this.inTransaction) commit(this)
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
        commit(this)
        return wrapped(...values)
      }
    }
}
