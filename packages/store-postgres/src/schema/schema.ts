import { AlliumError } from '@allium/core'
import type { PostgresClient } from '../database/pool.ts'
import { quoted } from './schema-name.ts'

/** The maximum of `setTimeout`; the driver cannot disable its timeout. */
const maxTimeout = 2 ** 31 - 1

/** Tables of every version. A schema of another application has some of them at most. */
const knownTables = ['schema_version', 'sessions', 'erasures']

const noTimeouts = `set local statement_timeout = 0; set local lock_timeout = 0;
set local idle_in_transaction_session_timeout = 0`

/** The version of the schema that this package creates. */
const latest = 1

/** The schema of a store, and its migration. Its SQL is loaded when it is needed: 100 KB, once in the life of a database. */
export class Schema {
  readonly name: string
  readonly quoted: string
  readonly #migrates: boolean
  readonly #steps: readonly string[] | undefined
  readonly #latest: number

  /** @param steps the SQL that makes each version out of the one before @default those of this package */
  constructor(name: string, migrate: 'auto' | 'check', steps?: readonly string[]) {
    this.name = name
    this.#steps = steps
    this.#latest = steps?.length ?? latest
    this.quoted = quoted(name)
    this.#migrates = migrate === 'auto'
  }

  /** @throws AlliumError `store.corrupt` when the schema is newer or unknown, or when it is older or missing and `migrate` is `check` */
  async prepare(client: PostgresClient): Promise<void> {
    const version = await this.#version(client)
    if (version === this.#latest) return
    if (!this.#migrates) throw this.#olderSchema(version)
    await this.#migrate(client)
  }

  /**
   * Migrates forward only, under an advisory lock of the transaction. If two processes start at once, one migrates and the other finds it
   * done. It has no timeout, because it copies large tables.
   */
  async #migrate(client: PostgresClient): Promise<void> {
    const { migration } = await import('@allium/store-postgres/sql')
    await client.query('begin')
    try {
      await client.query(noTimeouts)
      const lock = 'select pg_advisory_xact_lock(hashtextextended($1, 0))'
      await client.query({ text: lock, query_timeout: maxTimeout }, [`allium ${this.name}`])
      const version = await this.#version(client)
      if (version < this.#latest)
        await client.query({ text: migration(this.name, version, this.#steps), query_timeout: maxTimeout })
      await client.query('commit')
    } catch (error) {
      await client.query('rollback').catch(() => {})
      throw error
    }
  }

  /** Returns 0 if there is no schema. @throws AlliumError `store.corrupt` when it is newer, or its tables are not those of its version */
  async #version(client: PostgresClient): Promise<number> {
    // Not to_regclass(): within a transaction, a connection that used it before does not see tables that others have created since.
    const { rows } = await client.query(
      'select from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relname = any ($2)',
      [this.name, knownTables],
    )
    if (rows.length === 0) return 0
    if (rows.length < knownTables.length)
      throw this.#unknown('has tables, but not those of this version of Allium. Use the application that created it')
    const version = Number((await client.query(`select version from ${this.quoted}.schema_version`)).rows[0]?.version)
    if (version <= this.#latest) return version
    throw this.#unknown(
      `has version ${version}, but this version of Allium supports at most ${this.#latest}. Use a newer version of Allium`,
    )
  }

  #unknown(problem: string): AlliumError {
    return new AlliumError('store.corrupt', `The schema "${this.name}" ${problem}, or another "schema".`)
  }

  #olderSchema(version: number): AlliumError {
    const state = version === 0 ? 'does not exist' : `has version ${version}, but ${this.#latest} is needed`
    const from = version === 0 ? '' : `, from: ${version}`
    return new AlliumError(
      'store.corrupt',
      `The schema "${this.name}" ${state}, and "migrate" is 'check'. Run the SQL that postgresSql({ schema: '${this.name}'${from} }) returns, or set "migrate" to 'auto'.`,
      { details: { schema: this.name, version } },
    )
  }
}
