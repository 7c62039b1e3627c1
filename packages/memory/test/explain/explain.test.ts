import { describe, expect, it } from 'vitest'
import { explainRecall } from '../../src/explain/index.ts'
import type { Recalled } from '../../src/recall/index.ts'
import { ada, asks, scene } from '../recall/scene.ts'

const scope = { tenant: 'acme', owner: 'ada', agent: 'helper' }

/** Recalls for a question in a new conversation, and explains what was found. */
async function asked({ agentOf, store }: ReturnType<typeof scene>, question: string) {
  const { agent } = agentOf([asks(question), 'Ok.'])
  const events: Recalled[] = []
  agent.on('memory:recall', (event) => events.push(event))
  await agent.session({ id: crypto.randomUUID(), principal: ada }).run('?')
  const places = events.flatMap(({ passages }) => passages)
  return { places, explain: () => explainRecall(question, { store: store.passages, searched: scope, places }) }
}

const told = (passages: readonly { passage: { text: string } | undefined; words: unknown; near: unknown }[] = []) =>
  passages.map(({ passage, words, near }) => [passage?.text, words, near])

describe('explainRecall', () => {
  it('names the words of the question that a passage has, the rarest first, and those that only its neighbors have', async () => {
    const desk = scene({ limit: 4 })
    await desk.chat('monday', ['My sisters breed alpacas.', 'The sister in Peru'], ['How nice.', 'Which one?'])
    const { explain } = await asked(desk, 'Does my sister have an alpaca in Peru?')
    const { asked: words, passages } = (await explain()) ?? {}
    expect(words).toEqual(['sister', 'alpaca', 'peru'])
    expect(told(passages)).toEqual(
      expect.arrayContaining([
        ['The sister in Peru', ['peru', 'sister'], [{ word: 'alpaca', distance: -2 }]],
        ['My sisters breed alpacas.', ['alpaca', 'sister'], [{ word: 'peru', distance: 2 }]],
      ]),
    )
  })

  it('finds a passage that was recalled for its neighbors alone', async () => {
    const desk = scene({ limit: 3 })
    await desk.chat('monday', ['Is it far?', 'From Oslo to Peru'], ['It depends.', 'Very far.'])
    const { places, explain } = await asked(desk, 'Oslo')
    const { passages } = (await explain()) ?? {}
    expect(passages?.map(({ place }) => place)).toEqual(places)
    expect(told(passages)).toContainEqual(['It depends.', [], [{ word: 'oslo', distance: 1 }]])
  })

  it('names a date of the question', async () => {
    const desk = scene({ limit: 1 })
    await desk.chat('monday', ['We moved.'], ['Good.'])
    const { explain } = await asked(desk, 'What happened in May?')
    expect((await explain())?.passages[0]?.words).toEqual(['may (date)'])
  })

  it('has no passage for a place that was deleted since, and nothing for a person who was erased', async () => {
    const desk = scene({ limit: 2 })
    await desk.chat('monday', ['The code is zebra.'], ['Noted.'])
    const { explain } = await asked(desk, 'zebra')
    await desk.store.delete({ ...scope, sessionId: 'monday' })
    expect(told((await explain())?.passages)).toEqual([
      [undefined, [], []],
      [undefined, [], []],
    ])
    await desk.store.erase({ tenant: 'acme', owner: 'ada' })
    expect(await explain()).toBeUndefined()
  })
})
