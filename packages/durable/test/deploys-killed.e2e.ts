import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { children } from '../../store-postgres/test/chaos/children.ts'
import { newSchema } from '../../store-postgres/test/schemas.ts'
import { ownServer } from '../../store-postgres/test/server.ts'
import { tryCases } from './deploys/all-cases.ts'
import { deployed } from './deploys/deploy-case.ts'
import { sharedPlace } from './deploys/shared-place.ts'
import { startKilled } from './deploys/start-killed.ts'
import { open } from './kills/life.ts'

const folder = mkdtempSync(join(tmpdir(), 'allium-deploys-'))
const server = await ownServer()
const ready = await children(folder, 2, join(import.meta.dirname, 'deploys/worker.ts'))
afterAll(async () => {
  await ready.end()
  await server?.end()
  rmSync(folder, { recursive: true, force: true })
})

describe.each(['sqlite', 'postgres'] as const)('a deploy on %s after a SIGKILL', (kind) => {
  it.skipIf(kind === 'postgres' && server === undefined)(
    'repeats or hides no effect',
    async () => {
      const at = kind === 'sqlite' ? join(folder, 'deploys.db') : (server?.url ?? '')
      const where = { kind, at, schema: newSchema() }
      const store = open(where)
      await store.sessions.list({ tenant: 'acme', limit: 1 })
      const play = startKilled(ready, where)
      const { cases, lost } = await tryCases((of) => deployed(of, sharedPlace(store), play), { usual: 6, lanes: 2 })
      expect(lost).toBeGreaterThan(cases / 2)
      await store.close()
    },
    600_000,
  )
})
