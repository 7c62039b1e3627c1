import { AlliumError } from '@allium/core'
import { latestVersion, migration } from './migrations/migrations.ts'
import type { PostgresClient } from './pool.ts'
import { quoted } from './schema-name.ts'

/** What `setTimeout` takes at most: the driver has no word for no timeout at all. */
const maxTimeout = 2 ** 31 - 1

const noTimeouts = `set local statement_timeout = 0; set local lock_timeout = 0;
set local idle_in_transaction_session_timeout = 0`

/** The schema of a store, and how it comes to its form. */
export class Schema {
  readonly name: string
  readonly quoted: string
  readonly #migrates: boolean

  constructor(name: string, migrate: 'auto' | 'check') {
    this.name = name
    this.quoted = quoted(name)
    this.#migrates = migrate === 'auto'
  }

  /** @throws AlliumError `store.corrupt` where it is of a newer version, or of an older one or missing and only checked */
  async prepare(client: PostgresClient): Promise<void> {
    const version = await this.#version(client)
    if (version === latestVersion) return
    if (!this.#migrates) throw this.#olderSchema(version)
    await this.#migrate(client)
  }

  /**
   * Forward only, under a lock of the transaction: of two processes that start at once one does it, the other sees it done. It may take as
   * long as it takes: large tables are copied.
   */
  async #migrate(client: PostgresClient): Promise<void> {
    await client.query('begin')
    try {
      await client.query(noTimeouts)
      const lock = 'select pg_advisory_xact_lock(hashtextextended($1, 0))'
      await client.query({ text: lock, query_timeout: maxTimeout }, [`allium ${this.name}`])
      const version = await this.#version(client)
      if (version < latestVersion)
        await client.query({ text: migration(this.name, version), query_timeout: maxTimeout })
      await client.query('commit')
    } catch (error) {
      await client.query('rollback').catch(() => {})
      throw error
    }
  }

  /** 0 where there is none. @throws AlliumError `store.corrupt` where it is newer */
  async #version(client: PostgresClient): Promise<number> {
    const table = `${this.quoted}.schema_version`
    // Not to_regclass(): a connection that asked before does not see within a transaction what another one has made since.
    const { rows } = await client.query(
      'select 1 from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relname = $2',
      [this.name, 'schema_version'],
    )
    if (rows.length === 0) return 0
    const version = Number((await client.query(`select version from ${table}`)).rows[0]?.version)
    if (version <= latestVersion) return version
    throw new AlliumError(
      'store.corrupt',
      `The schema "${this.name}" is of version ${version}, and this version of Allium knows ${latestVersion}. Use the newer one.`,
    )
  }

  #olderSchema(version: number): AlliumError {
    const state = version === 0 ? 'is not there' : `is of version ${version}, and ${latestVersion} is needed`
    const from = version === 0 ? '' : `, from: ${version}`
    return new AlliumError(
      'store.corrupt',
      `The schema "${this.name}" ${state}, and "migrate" is 'check'. Run the SQL that postgresSql({ schema: '${this.name}'${from} }) gives, or set "migrate" to 'auto'.`,
      { details: { schema: this.name, version } },
    )
  }
}
