import { describe, expect, it } from 'vitest'
import { type ReindexOptions, reindex } from '../../src/reindex/index.ts'
import { ada, asks, found, scene } from '../recall/scene.ts'

const scope = { tenant: 'acme', owner: 'ada', agent: 'helper' }

async function all({ store }: ReturnType<typeof scene>, more: Partial<ReindexOptions> = {}) {
  const options = { store: { sessions: store, passages: store.passages }, tenant: 'acme', agents: ['helper'], ...more }
  const done: [string, number, string | undefined][] = []
  for await (const { key, passages, skipped } of reindex(options)) done.push([key.sessionId, passages, skipped])
  return done
}

/** What the store has of a session. */
async function passagesOf({ store }: ReturnType<typeof scene>, sessionId: string) {
  const places = Array.from({ length: 20 }, (_, position) => ({ sessionId, position }))
  return store.passages.read(scope, places)
}

describe('reindex()', () => {
  it('writes the same passages as the turns did, also after rewinds and in forks', async () => {
    const made = scene()
    const session = made.agentOf(['One.', 'Two.', 'Three.', 'Four.']).agent.session({ id: 'x', principal: ada })
    const { turnId } = await session.run('Alpacas eat hay.')
    await session.run('Llamas, too.')
    await session.rewind({ to: turnId })
    await session.run('Sheep eat grass.')
    await session.fork({ id: 'y' }).run('And goats?')
    const [x, y] = [await passagesOf(made, 'x'), await passagesOf(made, 'y')]
    expect(await all(made)).toEqual([
      ['x', 4, undefined],
      ['y', 2, undefined],
    ])
    expect([await passagesOf(made, 'x'), await passagesOf(made, 'y')]).toEqual([x, y])
  })

  it('replaces the terms of another language', async () => {
    const made = scene()
    await made.chat('x', ['Die Häuser sind alt.'], ['Ja.'])
    const german = await all(made, { language: 'de' })
    expect(german).toEqual([['x', 2, undefined]])
    const asked = scene({ language: 'de', store: made.store.passages })
    const { result } = await asked.chat('y', ['?'], [asks('Haus'), 'Ja.'])
    expect(found(result)).toContain('Die Häuser sind alt.')
  })

  it('begins a session again that gets a turn meanwhile', async () => {
    const made = scene()
    await made.chat('x', ['Alpacas eat hay.', 'Llamas, too.'], ['One.', 'Two.'])
    const { passages } = made.store
    let isFirst = true
    const rewrite: typeof passages.rewrite = async (...args) => {
      if (isFirst) await made.chat('x', ['Sheep eat grass.'], ['Three.'])
      isFirst = false
      return passages.rewrite(...args)
    }
    const store = { sessions: made.store, passages: { ...passages, rewrite } }
    expect(await all(made, { store })).toEqual([['x', 6, undefined]])
    expect((await passagesOf(made, 'x')).map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5])
  })

  it('leaves out persons for whom memory is off, other agents, and sessions before the cursor', async () => {
    const made = scene()
    for (const id of ['x', 'y']) await made.chat(id, ['Alpacas eat hay.'], ['One.'])
    await made.chat('z', ['Alpacas eat hay.'], ['One.'], { tenantId: 'acme', userId: 'bob' })
    await made.store.passages.setOff({ tenant: 'acme', owner: 'bob' }, 1)
    expect(await all(made, { agents: ['other'] })).toEqual([])
    const cursor = Buffer.from('["ada","helper","x"]').toString('base64url')
    expect(await all(made, { cursor })).toEqual([
      ['y', 2, undefined],
      ['z', 0, 'off'],
    ])
    expect(await all(made, { owner: 'ada', cursor })).toEqual([['y', 2, undefined]])
  })

  it('rejects options that it does not know or cannot use', async () => {
    const made = scene()
    await expect(all(made, { langage: 'de' } as object)).rejects.toThrow('Did you mean "language"?')
    await expect(all(made, { language: 'xx' as 'de' })).rejects.toThrow('got the language "xx"')
    await expect(all(made, { cursor: 'nowhere' })).rejects.toThrow('Pass the "cursor"')
  })
})
