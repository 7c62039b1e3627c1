import { Agent, type Model } from '@allium/core'
import { persist } from '@allium/memory'
import { sqlite } from '@allium/store-sqlite'
import { scriptedModel } from '@allium/testing'
import { createPool, type PostgresPool } from '../../../../store-postgres/src/database/pool.ts'
import { postgres } from '../../../../store-postgres/src/index.ts'
import { beforeStatement } from '../../../../store-sqlite/test/before-statement.ts'
import { durable } from '../../../src/index.ts'
import { schedules } from '../../../src/schedules.ts'

/** The job of a process, and the statement at which it is killed. */
export interface Life {
  readonly kind: 'sqlite' | 'postgres'
  /** The file, or the URL. */
  readonly at: string
  readonly schema: string
  readonly kill: number
}

export const ann = { tenantId: 'acme', userId: 'ann' }

/** Opens the store. @param onStatement runs at each statement of Postgres, and at each begin and commit of SQLite */
export function open({ kind, at, schema }: Omit<Life, 'kill'>, onStatement?: () => void) {
  if (kind === 'sqlite') {
    if (onStatement !== undefined) beforeStatement(onStatement)
    return sqlite(at, { synchronous: 'normal' })
  }
  return onStatement === undefined
    ? postgres({ url: at, schema })
    : postgres({ pool: observed(createPool(at, undefined), onStatement), schema })
}

/** Calls a function as soon as a statement was sent, before its result is known. */
function observed(pool: PostgresPool, onStatement: () => void): PostgresPool {
  return {
    async connect() {
      const client = await pool.connect()
      return {
        query(...args) {
          const sent = client.query(...args)
          onStatement()
          return sent
        },
        release: (destroy) => client.release(destroy),
        on: (...args) => client.on(...args),
        off: (...args) => client.off(...args),
      }
    },
  }
}

export function processOn(store: ReturnType<typeof open>, model: Model = scriptedModel([])) {
  const agent = new Agent({ version: '1', name: 'ticker', model }).use(persist({ store: store.sessions }))
  const logger = { warn() {}, error() {} }
  const runs = durable(agent, { store, lease: 600, attempts: 50, resolvePrincipal: () => ann, logger })
  return { runs, plan: schedules(runs) }
}
