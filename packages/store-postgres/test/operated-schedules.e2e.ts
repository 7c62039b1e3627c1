import { afterAll, describe, expect, it } from 'vitest'
import { storesAt } from './schemas.ts'
import { anyServer } from './server.ts'

const server = await anyServer()
const stores = storesAt(server?.url ?? '')
afterAll(async () => {
  await stores.end()
  await server?.end()
})

describe.skipIf(server === undefined)('operations of postgres()', () => {
  it('list the schedules of all tenants or some, page by page', async () => {
    const store = await stores.empty({})
    for (const [tenant, owner, id] of [
      ['globex', 'bob', 'report'],
      ['acme', 'ann', 'report'],
      ['acme', 'ann', 'check'],
    ] as const)
      await store.schedules.put(
        {
          ...{ tenant, owner, id, agent: 'support', cron: '0 8 * * *', tz: 'UTC', missed: 'latest' },
          ...{ request: { input: 'x' }, nextAt: 9e12 },
        },
        { agents: ['support'], perOwner: 9 },
      )
    const schedules = (query: Parameters<typeof store.operations.schedules>[0]) => store.operations.schedules(query)
    const first = await schedules({ limit: 2 })
    const { cursor = '' } = first
    const rest = await schedules({ limit: 2, cursor })
    const ids = [...first.items, ...rest.items].map(({ tenant, id }) => `${tenant} ${id}`)
    expect(ids).toEqual(['acme check', 'acme report', 'globex report'])
    const matching = async (filter: object) =>
      (await schedules({ ...filter, limit: 9 })).items.map(({ owner }) => owner)
    expect(await matching({ tenants: ['globex'] })).toEqual(['bob'])
    expect(await matching({ id: 'report', owner: 'ann' })).toEqual(['ann'])
    expect(await matching({ agent: 'other' })).toEqual([])
    const [check] = first.items
    if (check === undefined) return expect.fail('It is not listed.')
    await store.schedules.advance(check, { nextAt: null, paused: 'now' })
    expect([await matching({ paused: true }), await matching({ paused: false })]).toEqual([['ann'], ['ann', 'bob']])
    await stores.close(store as never)
  })

  it('find a run by a beginning with characters of several bytes', async () => {
    const store = await stores.empty({})
    const key = { tenant: 'acme', owner: 'ann', agent: 'support', sessionId: 'chat' }
    const long = `${'é'.repeat(70)}-1`
    for (const run of [long, 'ab%c-1']) await store.runs.add({ run, key, agent: 'support', version: '1', task: {} })
    const found = async (run: string) => (await store.operations.find({ run })).map((one) => one.run)
    expect(await found('é'.repeat(68))).toEqual([long])
    expect(await found('éé')).toEqual([long])
    expect([await found('ab%'), await found('a%'), await found('é_')]).toEqual([['ab%c-1'], [], []])
  })
})
