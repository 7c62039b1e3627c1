import { AlliumError, messageOf } from '@allium/core'
import Libsql from 'libsql'
import { migrate } from '../schema/migrate.ts'
import { GroupCommit } from './group-commit.ts'
import { SyncLevel } from './sync-level.ts'

type Statement = Libsql.Statement<unknown[]>
export type Value = string | number | Uint8Array | null
export type Row = Record<string, Value>

/** A SQLite file. It prepares each statement once, and converts failures to errors with a code. */
export class Database {
  readonly #path: string
  readonly #db: Libsql.Database
  readonly #statements = new Map<string, Statement>()
  readonly #groupCommit = new GroupCommit({
    transact: (work, sync) => this.#transact(work, sync),
    script: (sql) => this.#db.exec(sql),
  })
  readonly #syncLevel: SyncLevel
  #closed = false

  constructor(
    path: string,
    { synchronous, maxBytes }: { synchronous: 'full' | 'normal'; maxBytes: number | undefined },
  ) {
    this.#path = path
    this.#syncLevel = new SyncLevel(synchronous, () => this.#transact(() => this.run(touch), true))
    this.#db = this.#try(() => new Libsql(path, { timeout: 5000 } as Libsql.Options))
    this.#try(() => {
      this.#db.pragma('journal_mode = WAL')
      this.#db.pragma(`synchronous = ${synchronous}`)
      this.#db.pragma('busy_timeout = 5000')
      // Overwrites deleted data, so that an erasure leaves nothing in the file.
      this.#db.pragma('secure_delete = on')
      // 16 MB of log and page cache. With SQLite's defaults most pages are written and read repeatedly.
      this.#db.pragma('wal_autocheckpoint = 4000')
      this.#db.pragma('cache_size = -16000')
      // A migration may copy a table. Then the file grows beyond its limit, and later reuses the space.
      this.#transact(() => migrate(this.#db, path))
      if (maxBytes !== undefined) this.#limitSize(maxBytes)
    })
  }

  get(sql: string, ...values: Value[]): Row | undefined {
    return this.#execute(sql, values, (statement) => statement.get(values) as Row | undefined)
  }
  all(sql: string, ...values: Value[]): Row[] {
    return this.#execute(sql, values, (statement) => statement.all(values) as Row[])
  }
  /** Returns the number of changed rows. */
  run(sql: string, ...values: Value[]): number {
    return this.#execute(sql, values, (statement) => statement.run(values).changes)
  }

  /** Prepares a failed statement again. The driver does not reset a failed statement that returns rows, so it would keep failing. */
  #execute<T>(sql: string, values: readonly Value[], work: (statement: Statement) => T): T {
    return this.#try(() => {
      for (const value of values) checkValue(value)
      try {
        return work(this.#prepare(sql))
      } catch (error) {
        this.#statements.delete(sql)
        throw error
      }
    })
  }

  /** Runs statements that read in one transaction, so that no other process writes in between. */
  read<T>(work: () => T): T {
    return this.#try(() => {
      this.#db.exec('begin')
      try {
        return work()
      } finally {
        this.#db.exec('commit')
      }
    })
  }

  /** Runs `work` in an exclusive transaction. Flushes queued writes first. */
  write<T>(work: () => T): T {
    this.#groupCommit.flush()
    return this.#transact(work)
  }

  /** Runs `work` in a transaction shared with other concurrent writes, so that they sync to disk once. */
  writeInGroup<T>(work: () => T): Promise<T> {
    return this.#groupCommit.enqueue(work, true)
  }

  /**
   * Like `writeInGroup`, but resolves before the write is on disk, where the next write of `writeInGroup` puts it too. A process that
   * crashes loses nothing. A power failure may lose the write, if it happens within a second.
   */
  writeUnsynced<T>(work: () => T): Promise<T> {
    return this.#groupCommit.enqueue(work, false)
  }

  /** Like `writeUnsynced`, but waits up to 50 ms for the next write, to share its transaction. */
  writeBeforeNext<T>(work: () => T): Promise<T> {
    return this.#groupCommit.enqueueBeforeNext(work)
  }

  /** Commits the writes that wait, so that the next read sees them. */
  flush(): void {
    this.#groupCommit.flush()
  }

  #transact<T>(work: () => T, sync = true): T {
    return this.#try(() => {
      this.#syncLevel.begin(sync, (script) => this.#db.exec(script))
      try {
        const result = work()
        this.#db.exec('commit')
        this.#syncLevel.committed()
        return result
      } catch (error) {
        // Not after close(), because calling the driver then crashes the process.
        if (!this.#closed && this.#db.inTransaction) this.#db.exec('rollback')
        throw error
      }
    })
  }

  /** Moves all content of the log into the file, unless another process is reading it. */
  truncateWal(): void {
    this.#groupCommit.flush()
    this.#try(() => this.#db.pragma('wal_checkpoint(TRUNCATE)'))
  }

  /**
   * Moves the part of the log that no other process is reading, so that a later commit has less to move. A failure is harmless: a commit
   * will do it.
   */
  checkpointWal(): void {
    try {
      if (!this.#closed) this.#db.pragma('wal_checkpoint(PASSIVE)')
    } catch {}
  }

  close(): void {
    if (this.#closed) return
    this.#groupCommit.flush()
    this.#syncLevel.close()
    this.#statements.clear()
    // Finalizes statements first. Statements that the driver still knows would keep content in the log.
    try {
      this.#try(() => this.#db.pragma('wal_checkpoint(TRUNCATE)'))
    } finally {
      this.#closed = true
      this.#db.close()
    }
  }

  #prepare(sql: string): Statement {
    const statement = this.#statements.get(sql) ?? (this.#db.prepare(sql) as Statement)
    this.#statements.set(sql, statement)
    return statement
  }

  #limitSize(bytes: number): void {
    const [{ page_size: size = 4096 } = {}] = this.#db.pragma('page_size') as { page_size?: number }[]
    this.#db.pragma(`max_page_count = ${Math.max(1, Math.floor(bytes / size))}`)
  }

  #try<T>(work: () => T): T {
    if (this.#closed) throw new AlliumError('store.unavailable', `The store "${this.#path}" is closed.`)
    try {
      return work()
    } catch (error) {
      throw this.#toStoreError(error)
    }
  }

  #toStoreError(error: unknown): unknown {
    const code = codeOf(error)
    const entry = errorCodes.find(([prefix]) => code.startsWith(prefix))
    if (error instanceof AlliumError || entry === undefined) return error
    const [, storeCode, failure] = entry
    return new AlliumError(
      storeCode,
      `The store "${this.#path}" ${failure}: ${messageOf(error)}. Nothing was stored.`,
      {
        cause: error,
      },
    )
  }
}

/** Changes nothing, but its commit syncs the log, with all earlier commits. */
const touch = "update counters set value = value where name = 'token'"

/** The driver crashes the process for a value of an unknown type. @throws AlliumError `store.key` */
function checkValue(value: unknown): void {
  if (value === null || typeof value === 'string' || typeof value === 'number' || value instanceof Uint8Array) return
  throw new AlliumError(
    'store.key',
    `A row cannot hold a value of the type ${typeof value}. Pass strings, numbers, bytes or null. Nothing was stored.`,
  )
}

const errorCodes = [
  ['SQLITE_FULL', 'store.full', 'has no space left on its disk'],
  ['SQLITE_READONLY', 'store.readonly', 'is read-only'],
  ['SQLITE_CORRUPT', 'store.corrupt', 'is damaged'],
  ['SQLITE_NOTADB', 'store.corrupt', 'is not a SQLite database'],
  ['SQLITE_CANTOPEN', 'store.unavailable', 'could not be opened. Create its folder, and let the process write there'],
  ['SQLITE_', 'store.unavailable', 'failed'],
] as const

function codeOf(error: unknown): string {
  const { code = '' } = error as { code?: unknown }
  // The driver does not name extended codes that it does not know. Their last byte is the code that it extends.
  const number = /^UNKNOWN_SQLITE_ERROR_(\d+)$/.exec(String(code))?.[1]
  if (number !== undefined) return Number(number) % 256 === readonly ? 'SQLITE_READONLY' : 'SQLITE_ERROR'
  // It sets no code when it cannot open a file; the message ends with the error number.
  if (code === '' && messageOf(error).startsWith('ConnectionFailed')) return 'SQLITE_CANTOPEN'
  return String(code)
}

/** SQLITE_READONLY, https://www.sqlite.org/rescode.html#readonly */
const readonly = 8
