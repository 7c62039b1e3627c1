import { describe, expect, it, onTestFinished } from 'vitest'
import { aes } from '../../store-postgres/test/aes.ts'
import { oldRows } from '../../store-sql/test/old-rows.ts'
import { checkDurableRun, checkLists, checkOtherAgent, checkOwnAgent } from '../../store-sql/test/old-sessions.ts'
import { type SqliteOptions, sqlite } from '../src/index.ts'
import { migrations } from '../src/migrations/migrations.ts'
import { fileIn, raw } from './files.ts'

/** The schemas before sessions had agents. */
const schemas = Array.from({ length: migrations.findIndex((step) => step.includes('sealed_as')) }, (_, i) => i + 1)

async function oldFile(schema: number, options: SqliteOptions): Promise<string> {
  const path = fileIn()
  const rows = await oldRows(schema, options.encrypt)
  raw(path, (db) => {
    for (const step of migrations.slice(0, schema)) db.exec(step)
    for (const [table, columns] of rows) {
      const names = Object.keys(columns)
      const places = names.map(() => '?').join()
      db.prepare(`insert into ${table} (${names.join()}) values (${places})`).run(Object.values(columns))
    }
    db.exec(`pragma user_version = ${schema}`)
  })
  return path
}

function opened(path: string, options: SqliteOptions) {
  const store = sqlite(path, options)
  onTestFinished(() => store.close())
  return store
}

describe.each([
  ['in clear', {}],
  ['sealed', { encrypt: aes() }],
])('a file of an earlier schema, %s', (_, options) => {
  it.each(schemas)(
    'of version %i gives its sessions to the agent of their last turn, and to no other',
    async (schema) => {
      const path = await oldFile(schema, options)
      const store = opened(path, options)
      await checkOtherAgent(store)
      await checkOwnAgent(store, schema)
      await checkOtherAgentAgain(path)
    },
  )

  it.each(schemas)('of version %i lists its sessions for their agent before they are opened', async (schema) => {
    await checkLists(opened(await oldFile(schema, options), options))
  })

  it.each(schemas.filter((schema) => schema >= 4))('of version %i goes on with its durable runs', async (schema) => {
    await checkDurableRun(opened(await oldFile(schema, options), options))
  })

  /** Old and later rows open in another process. */
  async function checkOtherAgentAgain(path: string): Promise<void> {
    const { sessions } = opened(path, options)
    const stored = await sessions.load({ tenant: 'acme', owner: 'ann', agent: 'strict', sessionId: 'chat' })
    expect([stored?.version, stored?.history[0]?.content]).toEqual([3, 'Hi'])
  }
})

it('an old session that cannot be opened now is given to no agent, and hides no other one', async () => {
  const encrypt = aes()
  let isGone = true
  const gone = {
    ...encrypt,
    open: (bytes: Uint8Array, place: { tenant: string; row: string }) =>
      isGone && place.row.includes('"chat"') ? Promise.reject(new Error('no key')) : encrypt.open(bytes, place),
  }
  const { sessions } = opened(await oldFile(schemas.length, { encrypt }), { encrypt: gone })
  for (const agent of ['strict', 'lax']) {
    const load = sessions.load({ tenant: 'acme', owner: 'ann', agent, sessionId: 'chat' })
    await expect(load).rejects.toMatchObject({ code: 'store.unavailable' })
  }
  const listed = async () => {
    const { items } = await sessions.list({ tenant: 'acme', agents: ['strict'], limit: 9 })
    return items.map(({ key }) => key.sessionId)
  }
  expect(await listed()).toEqual(['begun'])
  isGone = false
  expect((await listed()).sort()).toEqual(['begun', 'chat'])
})

it('an owner is erased with the sessions that no agent has opened yet', async () => {
  const path = await oldFile(schemas.length, {})
  const store = opened(path, {})
  expect(await store.sessions.erase({ tenant: 'acme', owner: 'ann' })).toBe(2)
  const left = raw(path, (db) =>
    ['sessions', 'turns', 'waiting', 'vault', 'runs', 'steps'].flatMap((table) =>
      db.prepare(`select * from ${table}`).all(),
    ),
  )
  expect(left).toEqual([])
})
