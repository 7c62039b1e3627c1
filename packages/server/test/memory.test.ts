import { sqlite } from '@allium/store-sqlite'
import { manualClock, type ScriptedStep, scriptedModel } from '@allium/testing'
import { Agent } from 'allium'
import { recall, working } from 'allium/memory'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { type ServerOptions, server } from '../src/index.ts'
import { type MemoryOptions, memory } from '../src/memory.ts'
import { createMemoryClient } from '../src/memory-client.ts'
import { principal, silent } from './kit.ts'

const profile = { schema: z.object({ name: z.string().optional(), diet: z.enum(['vegan', 'any']).optional() }) }

/** A server whose agent remembers, over a file that other servers may share. */
function serve(steps: ScriptedStep[], { options = {}, more = {}, store = sqlite(':memory:') }: Given = {}) {
  const clock = manualClock(1_000_000)
  const agent = new Agent({ name: 'support', model: scriptedModel(steps), store, clock, logger: silent })
    .use(recall())
    .use(working(profile))
  const app = server(agent, {
    principal,
    logger: silent,
    clock,
    memory: memory({ blocks: [profile], ...options }),
    ...more,
  })
  onTestFinished(() => app.drain({ timeout: 1 }))
  const fetch = (url: string, init?: RequestInit) => app.fetch(new Request(url, init))
  const clientOf = (who: string) =>
    createMemoryClient({ url: 'http://x', headers: () => ({ authorization: who }), fetch })
  const chat = async (who: string, id: string, input: string) => {
    const headers = { authorization: who, 'content-type': 'application/json' }
    const response = await fetch(`http://x/sessions/${id}/runs`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ input }),
    })
    return (await response.json()) as { text: string }
  }
  return { store, clientOf, chat, ann: clientOf('acme/ann'), bob: clientOf('acme/bob') }
}

interface Given {
  options?: MemoryOptions
  more?: Partial<ServerOptions>
  store?: ReturnType<typeof sqlite>
}

const remember = (set: object): ScriptedStep => ({ toolCalls: [{ name: 'update_memory', args: { set } }] })

describe('memory()', () => {
  it('shows a person the blocks and passages that the agent has of them, and of nobody else', async () => {
    const { chat, ann, bob, clientOf } = serve([remember({ name: 'Ann' }), 'Hello Ann.'])
    await chat('acme/ann', 'a', 'I am Ann, and I breed alpacas.')
    const { on, passages, blocks } = await ann.view()
    expect({ on, passages }).toEqual({ on: true, passages: 2 })
    expect(blocks).toMatchObject([
      { name: 'memory:working', version: 1, block: { name: 'Ann' }, fields: { name: {}, diet: {} } },
    ])
    const { items } = await ann.passages()
    expect(items.map(({ sessionId, text }) => [sessionId, text])).toEqual([
      ['a', 'I am Ann, and I breed alpacas.'],
      ['a', 'Hello Ann.'],
    ])
    for (const other of [bob, clientOf('globex/ann')]) {
      expect(await other.view()).toMatchObject({ passages: 0, blocks: [{ block: {} }] })
      expect((await other.passages()).items).toEqual([])
    }
  })

  it('lists passages in pages, each once, whatever their conversations', async () => {
    const { chat, ann } = serve(Array.from({ length: 6 }, (_, i) => `Answer ${i}.`))
    for (const id of ['a', 'b', 'a', 'c', 'c', 'c']) await chat('acme/ann', id, `Question of ${id}`)
    const seen: string[] = []
    let page = await ann.passages({ limit: 5 })
    for (; page.cursor !== undefined; page = await ann.passages({ limit: 5, cursor: page.cursor }))
      seen.push(...page.items.map(({ sessionId, index }) => `${sessionId}${index}`))
    seen.push(...page.items.map(({ sessionId, index }) => `${sessionId}${index}`))
    expect(seen).toEqual(['c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'a0', 'a1', 'a2', 'a3', 'b0', 'b1'])
  })

  it('switches memory off for a person at once, in another process too, and keeps what is stored', async () => {
    const { chat, ann, bob, store } = serve(['Hello.', 'Hm.', 'Hm.'])
    await chat('acme/ann', 'a', 'I breed alpacas.')
    const other = serve([{ toolCalls: [{ name: 'recall', args: { question: 'alpacas' } }] }, 'No idea.'], { store })
    expect(await other.ann.setOn(false)).toEqual({ on: false, off: { person: 1_000_000 } })
    await chat('acme/ann', 'b', 'And llamas.')
    expect(await ann.view()).toMatchObject({ on: false, passages: 2 })
    expect((await bob.view()).on).toBe(true)
    await ann.setOn(true)
    expect(await other.ann.view()).toMatchObject({ on: true, off: {}, passages: 2 })
  })

  it('cannot be switched on by a person of a tenant for which an operator has switched it off', async () => {
    const { ann, store } = serve([])
    await store.passages.setOff({ tenant: 'acme' }, 7)
    expect(await ann.setOn(true)).toEqual({ on: false, off: { tenant: 7 } })
  })

  it('lets a person correct a block that nobody has changed meanwhile, and shows who changed it', async () => {
    const { chat, ann } = serve([remember({ name: 'Ann', diet: 'any' }), 'Hello.'])
    await chat('acme/ann', 'a', 'I am Ann.')
    const edited = await ann.edit('memory:working', { version: 1, set: { diet: 'vegan' } })
    expect(edited).toMatchObject({ name: 'memory:working', version: 2, block: { name: 'Ann', diet: 'vegan' } })
    const late = ann.edit('memory:working', { version: 1, set: { name: 'Anna' } })
    await expect(late).rejects.toMatchObject({ status: 409, code: 'store.conflict' })
    const wrong = ann.edit('memory:working', { version: 2, set: { diet: 'meat' } })
    await expect(wrong).rejects.toMatchObject({ status: 400, code: 'request.invalid' })
    expect((await ann.changes('memory:working')).map(({ by }) => by)).toEqual(['person', 'model'])
  })

  it('deletes a block, a conversation, or everything', async () => {
    const { chat, ann } = serve([remember({ name: 'Ann' }), 'One.', 'Two.', 'Three.'])
    for (const id of ['a', 'b', 'c']) await chat('acme/ann', id, `I am ${id}.`)
    await ann.deleteConversation('a')
    expect((await ann.passages()).items.map(({ sessionId }) => sessionId)).toEqual(['c', 'c', 'b', 'b'])
    await ann.deleteBlock('memory:working')
    expect(await ann.view()).toMatchObject({ passages: 4, blocks: [{ version: 0, block: {} }] })
    expect(await ann.deleteAll()).toBe(2)
    expect(await ann.view()).toMatchObject({ on: true, passages: 0 })
  })

  it('answers 404 for conversations of others and for blocks that there are not', async () => {
    const { chat, ann, bob } = serve(['Hello.'])
    await chat('acme/ann', 'a', 'Hi')
    await expect(bob.deleteConversation('a')).rejects.toMatchObject({ status: 404 })
    await expect(ann.deleteBlock('other')).rejects.toMatchObject({ status: 404 })
    expect(await bob.deleteAll()).toBe(0)
    expect((await ann.passages()).items).toHaveLength(2)
  })

  it('takes only so many changes of a person in a minute', async () => {
    const { ann, bob } = serve([], { options: { perMinute: 2 } })
    for (const on of [false, true]) await ann.setOn(on)
    await expect(ann.setOn(false)).rejects.toMatchObject({ status: 429, code: 'server.limit' })
    expect((await bob.setOn(true)).on).toBe(true)
  })

  it('rejects options that it does not know or cannot keep', () => {
    expect(() => memory({ block: [] } as object)).toThrow('Did you mean "blocks"?')
    expect(() => memory({ blocks: [profile, profile] })).toThrow('two blocks of one layer')
    expect(() => memory({ perMinute: 0 })).toThrow('Pass a whole number from 1')
  })
})
