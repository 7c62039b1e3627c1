import { afterAll, expect, it } from 'vitest'
import { storesAt } from '../../store-postgres/test/schemas.ts'
import { anyServer } from '../../store-postgres/test/server.ts'
import { tryCases } from './deploys/all-cases.ts'
import { deployed } from './deploys/deploy-case.ts'
import { sharedPlace } from './deploys/shared-place.ts'

const server = await anyServer()
const stores = storesAt(server?.url ?? '')
afterAll(async () => {
  await stores.end()
  await server?.end()
})

it.skipIf(server === undefined)(
  'no deploy on Postgres repeats or hides an effect of a run that was killed at any step',
  async () => {
    const store = stores.fresh()
    await store.ready()
    const { stopped, moved } = await tryCases((of) => deployed(of, sharedPlace(store)), { usual: 60, lanes: 10 })
    expect([stopped > 0, moved > 0]).toEqual([true, true])
  },
  600_000,
)
