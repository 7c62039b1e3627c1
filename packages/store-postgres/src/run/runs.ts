import type { RunStore } from '@allium/store'
import { type Blobs, checkOwner, runRowKey, type Sealer } from '@allium/store-sql'
import type { Database } from '../database/database.ts'
import { checkSessionKey } from '../database/keys.ts'
import { postgresLeases } from '../lease/leases.ts'
import { RunAdder } from './run-adder.ts'
import { RunClaimer } from './run-claimer.ts'
import { RunTable } from './run-table.ts'

/** Durable runs and their steps in Postgres. */
export function postgresRuns(db: Database, parts: { sealer: Sealer; blobs: Blobs }): RunStore {
  const { sealer, blobs } = parts
  const { renew } = postgresLeases(db)
  const runs = new RunTable(db, parts)
  const adder = new RunAdder(db, parts)
  const claims = new RunClaimer(db, blobs)
  return {
    sealed: sealer.encrypts,
    add: async (run, options = {}) => adder.add({ ...run, key: checkSessionKey({ ...run.key }) }, options),
    get: async (scope) => runs.get(...runRowKey(scope)),
    shape: (digest) => runs.shape(digest),
    find: async (key, idempotencyKey) => runs.find(checkSessionKey({ ...key }), idempotencyKey),
    list: async (query) => runs.list(checkOwner(query)),
    claim: (query) => claims.claim(query),
    renew: (held, ms) => Promise.all(held.map((lease) => renew(lease, ms))),
    steps: (lease, run) => runs.steps(lease, run),
    record: (lease, run, step) => runs.recordStep(lease, run, step),
    stop: async (scope, reason) => runs.stop(...runRowKey(scope), reason),
    release: (lease, run) => claims.release(lease, run),
    giveUp: (lease, run, why) => runs.giveUp(lease, run, why),
    retry: async (scope) => (await db.callOnce('retry_run', ...runRowKey(scope))) === true,
    migrate: async (scope, { from, to }) => (await db.callOnce('migrate_run', ...runRowKey(scope), from, to)) === true,
    markReported: (lease, run, code) => runs.markReported(lease, run, code),
    orphans: (query) => claims.orphans(query),
    expiredCalls: (query) => claims.expired(query),
    async expire({ olderThan }) {
      const deleted = await runs.expire(olderThan)
      await blobs.collect()
      return deleted
    },
  }
}
