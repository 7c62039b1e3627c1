import type { RunStore } from '@allium/store'
import { checkKey, checkOwner, runRowKey } from '@allium/store-sql'
import type { StoreParts } from '../store-parts.ts'
import { RunAdder } from './run-adder.ts'
import { RunClaimer } from './run-claimer.ts'
import { RunSteps } from './run-steps.ts'
import { RunTable } from './run-table.ts'

/** Durable runs and their steps in a SQLite file. */
export function sqliteRuns(parts: StoreParts): RunStore {
  const { leases, sealer, blobs } = parts
  const runs = new RunTable(parts)
  const steps = new RunSteps(parts, runs)
  const adder = new RunAdder(parts)
  const claims = new RunClaimer(parts)
  return {
    sealed: sealer.encrypts,
    add: async (run, options = {}) => adder.add({ ...run, key: checkKey({ ...run.key }) }, options),
    get: async (scope) => runs.get(...runRowKey(scope)),
    shape: async (digest) => runs.shape(digest),
    find: async (key, idempotencyKey) => runs.find(checkKey(key), idempotencyKey),
    list: async (query) => runs.list(checkOwner(query)),
    claim: (query) => claims.claim(query),
    renew: (held, ms) => Promise.all(held.map((lease) => leases.renew(lease, ms))),
    steps: (lease, run) => steps.list(lease, run),
    record: (lease, run, step) => steps.record(lease, run, step),
    stop: async (scope, reason) => runs.stop(...runRowKey(scope), reason),
    release: async (lease, run) => claims.release(lease, run),
    giveUp: async (lease, run, why) => runs.giveUp(lease, run, why),
    retry: async (scope) => runs.retry(...runRowKey(scope)),
    migrate: async (scope, versions) => runs.migrate(...runRowKey(scope), versions),
    markReported: async (lease, run, code) => runs.markReported(lease, run, code),
    orphans: (query) => claims.orphans(query),
    expiredCalls: (query) => claims.expired(query),
    async expire({ olderThan }) {
      const deletedCount = runs.expire(olderThan)
      await blobs.collect()
      return deletedCount
    },
  }
}
