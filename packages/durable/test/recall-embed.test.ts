import { Agent, type Model } from '@allium/core'
import { persist } from '@allium/memory'
import { recall } from '@allium/memory/recall'
import { sqlite } from '@allium/store-sqlite'
import { manualClock, scriptedModel } from '@allium/testing'
import { expect, it, onTestFinished } from 'vitest'
import { durable } from '../src/index.ts'

const principal = { tenantId: 'acme', userId: 'ann' }
const ann = { tenant: 'acme', owner: 'ann', agent: 'agent' }
const question = 'news vehicle repair'

it.each([undefined, 'turn'] as const)(
  'embeds and pays once in a run that another process finishes, whatever the store has then, every: %s',
  async (every) => {
    const clock = manualClock()
    const store = sqlite(':memory:', { clock })
    const embedded: string[][] = []
    const embed = {
      provider: 'openai',
      modelId: 'meaning',
      async doEmbed({ values }: { values: string[] }) {
        embedded.push(values)
        const embeddings = values.map((text) => [/vehicle|automobile/.test(text) ? 1 : 0, 0.1])
        return { embeddings, usage: { tokens: 1_000 } }
      },
    }
    const process = (model: Model, own = clock) => {
      const recalling = recall({ store: store.passages, embed, limit: 1, ...(every && { every }) })
      const layers = [persist({ store: store.sessions }), recalling]
      const agent = new Agent({ version: '1', name: 'agent', model, clock: own }).use(layers)
      return durable(agent, { store, lease: 1000, clock: own, logger: { warn() {}, error() {} } })
    }
    const before = new Agent({ name: 'agent', model: scriptedModel(['Ok.', 'Ok.']), clock })
      .use(persist({ store: store.sessions }))
      .use(recall({ store: store.passages }))
    await before.session({ id: 'car', principal }).run('News: the automobile was in the garage.')
    await before.session({ id: 'alpaca', principal }).run('News: the alpaca got new hay.')

    const asks = { toolCalls: [{ name: 'recall', callId: 'c1', args: { question } }], usage: { inputTokens: 10 } }
    const lost = scriptedModel([...(every ? [] : [asks]), { stall: true }])
    const { run } = await process(lost, manualClock()).start({ principal, sessionId: 'chat', input: question })
    await expect.poll(() => lost.requests.length).toBe(every ? 1 : 2)
    for (const sessionId of ['car', 'alpaca']) await store.sessions.delete({ ...ann, sessionId })
    await clock.advance(1500)

    const rest = scriptedModel([{ text: 'At the garage.', usage: { inputTokens: 10 } }])
    const next = process(rest)
    onTestFinished(() => next.drain())
    await next.recover()
    for await (const _ of next.attach(run, { principal }));
    const ended = await next.get(run, { principal })
    expect(ended).toMatchObject({ status: 'completed', text: 'At the garage.' })
    expect(JSON.stringify(rest.requests[0]?.messages)).toContain('automobile was in the garage')
    expect(embedded.map((texts) => texts.length)).toEqual([5])
    expect(ended?.usage).toMatchObject({ inputTokens: every ? 1_010 : 1_020 })
  },
)
