import { AlliumError, messageOf } from '@allium/core'
import Libsql from 'libsql'
import { GroupCommit } from './group-commit.ts'
import { migrations } from './migrations/migrations.ts'

type Statement = Libsql.Statement<unknown[]>
export type Value = string | number | Uint8Array | null
export type Row = Record<string, Value>

/** One SQLite file: statements are prepared once, what fails has a code. */
export class Database {
  readonly #path: string
  readonly #db: Libsql.Database
  readonly #statements = new Map<string, Statement>()
  readonly #groupCommit = new GroupCommit({
    transact: (work) => this.#transact(work),
    script: (sql) => this.#db.exec(sql),
  })
  #closed = false

  constructor(
    path: string,
    { synchronous, maxBytes }: { synchronous: 'full' | 'normal'; maxBytes: number | undefined },
  ) {
    this.#path = path
    this.#db = this.#try(() => new Libsql(path, { timeout: 5000 } as Libsql.Options))
    this.#try(() => {
      this.#db.pragma('journal_mode = WAL')
      this.#db.pragma(`synchronous = ${synchronous}`)
      this.#db.pragma('busy_timeout = 5000')
      // What is deleted is overwritten, so that an erasure leaves nothing in the file.
      this.#db.pragma('secure_delete = on')
      // 16 MB of the log, and of pages: with those of SQLite's own choice it writes and reads most pages again and again.
      this.#db.pragma('wal_autocheckpoint = 4000')
      this.#db.pragma('cache_size = -16000')
      // A migration may copy a table: for that the file grows beyond its limit, and uses the room again.
      this.#migrate()
      if (maxBytes !== undefined) this.#limitSize(maxBytes)
    })
  }

  get(sql: string, ...values: Value[]): Row | undefined {
    return this.#execute(sql, values, (statement) => statement.get(values) as Row | undefined)
  }
  all(sql: string, ...values: Value[]): Row[] {
    return this.#execute(sql, values, (statement) => statement.all(values) as Row[])
  }
  /** Gives how many rows were changed. */
  run(sql: string, ...values: Value[]): number {
    return this.#execute(sql, values, (statement) => statement.run(values).changes)
  }

  /** A statement that failed is prepared anew: the driver does not reset one that returns rows, and it would fail ever after. */
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

  /** All or nothing; nobody else writes meanwhile. What was asked before is written before. */
  write<T>(work: () => T): T {
    this.#groupCommit.flush()
    return this.#transact(work)
  }

  /** The same, in one transaction with what else is asked now: many at once wait for the disk once. */
  writeInGroup<T>(work: () => T): Promise<T> {
    return this.#groupCommit.enqueue(work)
  }

  #transact<T>(work: () => T): T {
    return this.#try(() => {
      this.#db.exec('begin immediate')
      try {
        const result = work()
        this.#db.exec('commit')
        return result
      } catch (error) {
        // Not after close(): asking the driver then ends the process.
        if (!this.#closed && this.#db.inTransaction) this.#db.exec('rollback')
        throw error
      }
    })
  }

  /** Takes what was written out of the log beside the file; nothing where another process reads it just now. */
  truncateWal(): void {
    this.#groupCommit.flush()
    this.#try(() => this.#db.pragma('wal_checkpoint(TRUNCATE)'))
  }

  /** Takes out of the log what no other process reads just now, so that no later commit has to take out all of it. Where it fails, one does. */
  checkpointWal(): void {
    try {
      if (!this.#closed) this.#db.pragma('wal_checkpoint(PASSIVE)')
    } catch {}
  }

  close(): void {
    if (this.#closed) return
    this.#groupCommit.flush()
    this.#statements.clear()
    // Statements that are still known to the driver would keep what was written in the log beside the file.
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

  /** Forward only, under the lock of a transaction: of two processes that start at once one does it. */
  #migrate(): void {
    this.#transact(() => {
      const [{ user_version: version = 0 } = {}] = this.#db.pragma('user_version') as { user_version?: number }[]
      if (version > migrations.length)
        throw new AlliumError(
          'store.corrupt',
          `The file "${this.#path}" has the schema ${version}, and this version of Allium knows ${migrations.length}. Use a newer version.`,
        )
      for (const step of migrations.slice(version)) this.#db.exec(step)
      this.#db.exec(`pragma user_version = ${migrations.length}`)
    })
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
    const code = String((error as { code?: unknown }).code ?? '') || codeFromMessage(error)
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

/** The driver ends the process for a value that it does not know. @throws AlliumError `store.key` */
function checkValue(value: unknown): void {
  if (value === null || typeof value === 'string' || typeof value === 'number' || value instanceof Uint8Array) return
  throw new AlliumError(
    'store.key',
    `A row cannot hold a value of the type ${typeof value}. Give texts and numbers. Nothing was stored.`,
  )
}

const errorCodes = [
  ['SQLITE_FULL', 'store.full', 'has a full disk'],
  ['SQLITE_READONLY', 'store.readonly', 'may not be written'],
  ['SQLITE_CORRUPT', 'store.corrupt', 'is damaged'],
  ['SQLITE_NOTADB', 'store.corrupt', 'is no database'],
  ['SQLITE_CANTOPEN', 'store.unavailable', 'could not be opened. Make its folder and let the process write there'],
  ['SQLITE_', 'store.unavailable', 'failed'],
] as const

/** The driver gives no code when it cannot open a file: its message ends with the number of the error. */
function codeFromMessage(error: unknown): string {
  return messageOf(error).startsWith('ConnectionFailed') ? 'SQLITE_CANTOPEN' : ''
}
