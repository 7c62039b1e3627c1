import { Agent, type Middleware, type Tool } from '@allium/core'
import { persist } from '@allium/memory'
import { type ScriptedStep, scriptedModel } from '@allium/testing'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { codeOf, key } from './samples.ts'
import { storesAt } from './schemas.ts'
import { anyServer } from './server.ts'

const server = await anyServer()
const stores = storesAt(server?.url ?? '')
afterAll(async () => {
  await stores.end()
  await server?.end()
})

const nul = 'a\u0000b'

/** A tool that answers with a NUL, after approval, and a layer that sets the title of the session. */
const look: Tool = {
  name: 'look',
  description: 'Looks',
  jsonSchema: { type: 'object', properties: { at: { type: 'string' } } },
  requireApproval: true,
  execute: ({ at }) => `${at} ${nul}`,
}
const titled: Middleware = {
  name: 'titled',
  state: { title: { default: '' } },
  async turn(ctx, next) {
    ctx.state.title = nul
    await next()
  },
}

describe.skipIf(server === undefined)('postgres()', () => {
  it('stores a message, arguments, a tool result and a session title with a NUL as they are', async () => {
    const store = stores.fresh()
    const sessionOf = (step: ScriptedStep, { sessions } = store) => {
      const approvals = { secret: 'x'.repeat(32) }
      const agent = new Agent({ model: scriptedModel([step]), tools: [look], approvals })
      onTestFinished(() => agent.dispose())
      return agent.use([persist({ store: sessions }), titled]).session({ id: 'chat' })
    }
    const asked = await sessionOf({ toolCalls: [{ name: 'look', args: { at: nul } }] }).run(nul)
    expect(asked.pending).toMatchObject([{ args: { at: nul } }])
    const { callId = '', token } = asked.pending[0] ?? {}
    await sessionOf(nul, stores.again(store)).resume({ [callId]: { approve: true, token } })
    const kept = await stores.again(store).sessions.load({ tenant: '', owner: '', agent: 'agent', sessionId: 'chat' })
    expect(kept?.rest.state).toMatchObject({ title: nul })
    expect(kept?.history).toMatchObject([
      { role: 'user', content: nul },
      { content: [{ args: { at: nul } }] },
      { content: [{ content: `${nul} ${nul}` }] },
      { role: 'assistant', content: nul },
    ])
  })

  it('refuses a NUL in the id of a run as a name that it cannot hold', async () => {
    const { sessions, events } = stores.fresh()
    for (const by of [{ turnId: nul }, { turnId: '\ud800' }, { idempotencyKey: nul }])
      expect(await codeOf(() => sessions.find(key, by))).toBe('store.key')
    expect(await codeOf(() => events.read({ key, turnId: nul }, 0))).toBe('store.key')
  })
})
