import { describe, expect, it } from 'vitest'
import { ada, asks, found, scene } from '../recall/scene.ts'
import { alpaca, ask, bothWays, car, question, remember, today } from './conversations.ts'
import { meaningModel } from './meaning.ts'

describe('memory.recall({ embed })', () => {
  it.each(bothWays)('puts first what means the same in other words; words alone do not, every: %s', async (every) => {
    for (const [embed, first] of [
      [meaningModel(), car],
      [undefined, alpaca],
    ] as const) {
      const world = scene({ embed, every, limit: 1 })
      await remember(world)
      expect((await today(world, every)).recalled).toEqual([first])
    }
  })

  it('embeds a message once, when a question first comes near it, and each question', async () => {
    const embed = meaningModel()
    const world = scene({ embed })
    await remember(world)
    expect(embed.calls).toEqual([])
    await ask(world, 'first')
    await world.chat('news', ['News: more hay.'], ['Ok.'])
    await ask(world, 'second')
    const [first, second] = embed.calls
    expect(first?.[0]).toBe(question)
    expect(first?.slice(1).toSorted()).toEqual([alpaca, car, 'Ok.', 'Ok.'].toSorted())
    expect(second).toEqual([question, 'News: more hay.', 'Ok.'])
  })

  it('embeds them again for another model, and for another number of dimensions', async () => {
    const world = scene()
    await remember(world)
    const small = meaningModel({ modelId: 'small' })
    const short = meaningModel({
      modelId: 'small',
      doEmbed: async ({ values }) => ({
        embeddings: values.map((text) => [text === car || text === question ? 1 : -1, 1]),
      }),
    })
    for (const [embed, sizes] of [
      [meaningModel(), [5]],
      [small, [5]],
      [short, [1, 5]],
      [short, [1]],
    ] as const) {
      const from = embed.calls.length
      const { agentOf } = scene({ embed, store: world.store.passages, limit: 1 }, [], {}, world.clock, world.store)
      const { toolCalls } = await agentOf([asks(question), 'Ok.'])
        .agent.session({ id: `q${from}`, principal: ada })
        .run('?')
      expect(embed.calls.slice(from).map((texts) => texts.length)).toEqual(sizes)
      expect(found({ toolCalls })).toEqual([car])
    }
  })

  it('embeds nothing if no word fits, and nothing again if a turn goes on after an approval', async () => {
    const embed = meaningModel()
    const look = { name: 'look', description: '', jsonSchema: {}, requireApproval: true, execute: () => 'seen' }
    const world = scene({ embed, every: 'turn' }, [{ name: 'app:tools', tools: [look] }])
    await remember(world)
    await world.chat('other', ['zebra'], ['Ok.'])
    expect(embed.calls.length).toBe(1)
    const { agent } = world.agentOf([{ toolCalls: [{ name: 'look', args: {} }] }, 'Done.'])
    const session = agent.session({ id: 'today', principal: ada })
    const { pending } = await session.run(question)
    const { status } = await session.resume({ [pending[0]?.callId as string]: { approve: true } })
    expect([status, embed.calls.length]).toEqual(['completed', 2])
  })

  it('embeds no text of another tenant or user', async () => {
    const embed = meaningModel()
    const world = scene({ embed })
    for (const tenantId of ['acme', 'globex'])
      for (const userId of ['ada', 'bob'])
        await world.chat('car', [`News of ${tenantId}/${userId}`], ['Ok.'], { tenantId, userId })
    await ask(world)
    await ask(world, 'again')
    expect(embed.calls.flat().filter((text) => text.startsWith('News of'))).toEqual(['News of acme/ada'])
  })

  it('rejects something else than an embedding model', () => {
    for (const embed of ['openai/text-embedding-3-small', { doGenerate() {} }])
      expect(() => scene({ embed: embed as never }).agentOf([])).toThrow(/needs embed.doEmbed to be a function/)
  })
})
