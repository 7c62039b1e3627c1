import { memoryStore, type SessionStore } from '@allium/store'
import { sqlite } from '@allium/store-sqlite'
import { expect, test } from 'vitest'
import { agentOf, ask, kept, listen } from './kit.ts'

const stores = { memory: () => memoryStore(), sqlite: () => sqlite(':memory:').sessions }

test.each(Object.entries(stores))(
  'a fork in %s is not stored if its owner is erased after it read the session',
  async (_, open) => {
    const store = open()
    let read = async () => {}
    const load: SessionStore['load'] = async (...args) => {
      const stored = await store.load(...args)
      await read()
      return stored
    }
    const sessions = new Proxy(store, { get: (of, name: keyof SessionStore) => (name === 'load' ? load : of[name]) })
    const { agent } = kept(agentOf(['One.', 'Two.']), store)
    const { url } = await listen(agent, { sessions })
    await (await ask(`${url}/sessions/a/runs`, { body: { input: 'secret' } })).text()
    read = async () => void (await store.erase({ tenant: 'acme', owner: 'ann' }))
    expect((await ask(`${url}/sessions/a/fork`, { body: { id: 'b' } })).status).toBe(409)
    expect((await ask(`${url}/sessions/b/messages`)).status).toBe(404)
    expect((await store.list({ tenant: 'acme', limit: 10 })).items).toEqual([])
  },
)
