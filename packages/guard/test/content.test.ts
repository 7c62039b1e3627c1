import type { Middleware } from '@allium/core'
import { describe, expect, it } from 'vitest'
import { growth } from '../../testing/test/growth.ts'
import { type ContentOptions, content, type GuardFound } from '../src/index.ts'
import { calling, scene, splits, told, watch } from './scene.ts'

const redacts: ContentOptions = { keywords: ['nightingale'], patterns: [/\bINT-\d{6}\b/], onFinding: 'redact' }
const answer = (text: string, options: ContentOptions = redacts) => scene([text], [content(options)]).agent.run('hi')

describe('guard.content', () => {
  it('lets through what has nothing in it, as it is', async () => {
    const { agent, model } = scene(['A nightingales tale.'], [content(redacts)])
    const { result } = await watch(agent.run('INT-12345'))
    expect([result.text, model.requests[0]?.messages.at(-1)?.content]).toEqual(['A nightingales tale.', 'INT-12345'])
    expect(result.state).toMatchObject({ 'guard:content:found': 0 })
  })

  it('blocks an input before the model is asked', async () => {
    const { agent, model } = scene([], [content({ keywords: ['Nightingale'], reply: 'Ask something else.' })])
    const session = agent.session()
    const { status, reason, text } = await session.run('Tell me of NIGHTINGALE!')
    expect([status, reason, text, model.calls]).toEqual([
      'blocked',
      '"guard:content" found a keyword in the input.',
      'Ask something else.',
      0,
    ])
  })

  it('blocks an answer in its midst, and takes back what was shown', async () => {
    const { agent } = scene(['It is safe. It is nightingale, you know.'], [content({ keywords: ['nightingale'] })])
    const session = agent.session()
    const { events, result } = await watch(session.run('hi'))
    expect([result.status, result.text, session.history.length]).toEqual(['blocked', '', 1])
    expect(JSON.stringify(events)).not.toContain('nightingale,')
    expect(events).toContainEqual(expect.objectContaining({ type: 'model:reset' }))
  })

  it.each([
    ['case', 'NightInGale'],
    ['accents', 'nìghtingále'],
    ['compatibility forms', 'ｎｉｇｈｔｉｎｇａｌｅ'],
    ['mathematical letters', '𝐧𝐢𝐠𝐡𝐭𝐢𝐧𝐠𝐚𝐥𝐞'],
    ['characters that nobody sees', 'night\u200bin\u00adgale'],
    ['an accent of its own', 'ni\u0301ghtingale'],
    ['letters of Cyrillic and Greek that look alike', 'nіghtіngаlе'],
    ['signs for letters', 'n1ght!ng4le'],
    ['spaces between letters', 'n i g h t i n g a l e'],
    ['dots between letters', 'N.I.G.H.T.I.N.G.A.L.E'],
    ['escapes of JSON', '\\u006eightin\\u0067ale'],
  ])('sees through %s, wherever it is split', async (_, text) => {
    const whole = `Of ${text}.`
    for (const chunks of splits(whole)) {
      const { result, events } = await watch(scene([{ chunks }], [content(redacts)]).agent.run('hi'))
      expect(result.text).toBe('Of [removed].')
      expect(JSON.stringify(events)).not.toContain(text)
    }
  })

  it('takes no number for a word, and no word for another', async () => {
    const options: ContentOptions = { keywords: ['sos', 'ill', 'boss', 'best seller'], onFinding: 'redact' }
    const text = 'Call 505 of lil, in 8055 days; b o s, the best  sellers.'
    expect((await answer(text, options)).text).toBe(text)
    expect((await answer('A b0ss of a best\n  5eller', options)).text).toBe('A [removed] of a [removed]')
  })

  it('finds the longest of words that begin at one place, and each of those that share their letters', async () => {
    const options: ContentOptions = {
      keywords: ['she', 'he', 'her', 'hers', 'he rs'],
      onFinding: 'redact',
      replacement: '_',
    }
    expect((await answer('ushers she hers he  rs her he', options)).text).toBe('ushers _ _ _ _ _')
  })

  it('takes time by the length of the text, and not by the number of keywords', async () => {
    const words = Array.from({ length: 1000 }, (_, i) => `project ${i.toString(36).replace(/\d/g, 'q')} nightingale`)
    const text = 'The quick brown fox went to town and saw project after project. '.repeat(400)
    const run = (count: number) => scene([text], [content({ keywords: words.slice(0, count) })]).agent.run('hi')
    expect(await growth(run, 1, 1000, 10)).toBeLessThan(10)
  })

  it('finds patterns wherever they are split, with digits of all scripts', async () => {
    for (const chunks of splits('See INT-123456 and INT-١٢٣٤٥٦, not XINT-123456.'))
      expect((await scene([{ chunks }], [content(redacts)]).agent.run('hi')).text).toBe(
        'See [removed] and [removed], not XINT-123456.',
      )
  })

  it('finds phrases over line breaks and spaces, and words of scripts that have none', async () => {
    const options: ContentOptions = {
      keywords: ['buy now', '機密', 'c++', 'a-b'],
      onFinding: 'redact',
      replacement: '…',
    }
    expect((await answer('Buy \n now! これは機密です. c++ and a-b', options)).text).toBe('…! これは…です. … and …')
  })

  it('filters what a model thinks, arguments of tools, sources, and results that the provider brings', async () => {
    const secret = 'nightingale'
    const chunks = [
      { type: 'reasoning-delta', delta: 'I know night' },
      { type: 'reasoning-delta', delta: 'ingale' },
      { type: 'source', url: 'https://x.org', title: `On ${secret}` },
      { type: 'tool-input-start', callId: 'c1', name: 'work' },
      { type: 'tool-input-delta', callId: 'c1', delta: '{"a":["night' },
      { type: 'tool-input-delta', callId: 'c1', delta: 'ingale"],"n":1}' },
      { type: 'tool-input-end', callId: 'c1' },
    ] as const
    const { agent, ran } = scene([{ chunks }, 'Done.'], [content(redacts)], { tools: ['work'] })
    const session = agent.session()
    const { events } = await watch(session.run('hi'))
    expect(ran).toEqual([['work', { a: ['[removed]'], n: 1 }]])
    expect(JSON.stringify([events, session.history])).not.toMatch(/night|ingale/)
  })

  it('finds what a source or another part stands in the middle of', async () => {
    const chunks = ['Of night', { type: 'source', url: 'https://x.org' } as const, 'ingale.']
    const { events, result } = await watch(scene([{ chunks }], [content(redacts)]).agent.run('hi'))
    expect([result.text, JSON.stringify(events).includes('ingale.')]).toEqual(['Of [removed].', false])
  })

  it('drops the metadata of a text that it changed, and keeps that of others', async () => {
    const providerMetadata = { openai: { itemId: 'm1' } }
    const kept = async (delta: string) => {
      const { agent } = scene([{ chunks: [{ type: 'text-delta', delta, providerMetadata }] }], [content(redacts)])
      const session = agent.session()
      const { events } = await watch(session.run('hi'))
      return [events, session.history].map((told) => JSON.stringify(told).includes('m1'))
    }
    expect([await kept('A nightingale.'), await kept('A bird.')]).toEqual([
      [false, false],
      [true, true],
    ])
  })

  it('looks at results of tools where it is told to', async () => {
    const layer = content({ ...redacts, apply: ['toolResults'] })
    const brings: Middleware = {
      name: 'brings',
      tool: () => ({ content: [{ type: 'text', text: 'A nightingale sang.' }] }),
    }
    const steps = [calling(['work', { a: 'nightingale' }]), 'nightingale']
    const { agent } = scene(steps, [layer, brings], { tools: ['work'] })
    const result = await agent.run('nightingale')
    expect([told(result), result.text]).toEqual([[[{ type: 'text', text: 'A [removed] sang.' }]], 'nightingale'])
  })

  it('tells observers and state what it found, without the text', async () => {
    const { agent } = scene(['The nightingale.'], [content({ ...redacts, as: 'words' })])
    const found: GuardFound[] = []
    agent.on('guard:found', (event) => found.push(event))
    const session = agent.session()
    const { state } = await session.run('nightingale')
    expect(state).toMatchObject({ 'words:found': 2 })
    expect(found.map(({ layer, where, action }) => [layer, where, action])).toEqual([
      ['words', 'input', 'redact'],
      ['words', 'output', 'redact'],
    ])
    expect(JSON.stringify([found, session.history])).not.toContain('nightingale')
  })

  it.each(['input', 'output', 'toolResults'] as const)(
    'fails closed where a detector of the %s throws',
    async (where) => {
      const throws = () => {
        throw new Error('secret')
      }
      const runs = async (onError: 'block' | 'allow') => {
        const layer = content({ patterns: [{ type: 'bad', find: throws }], apply: [where], onError })
        const steps = [{ chunks: ['Let ', 'me.'], toolCalls: [{ name: 'work', args: { n: 1 } }] }, 'All is well.']
        const { agent, ran } = scene(steps, [layer], { tools: ['work'] })
        const session = agent.session()
        const { status, reason, text } = await session.run('hi')
        return [status, reason, text, ran.length, JSON.stringify(session.history).includes('secret')]
      }
      const ran = where === 'toolResults' ? 1 : 0
      expect(await runs('block')).toEqual(['blocked', '"guard:content" could not check this.', '', ran, false])
      expect(await runs('allow')).toEqual(['completed', undefined, 'All is well.', 1, false])
    },
  )

  it.each([[{}], [{ keywords: [' '] }], [{ patterns: [{ type: 'x' }] }]])('refuses %j', (options) => {
    expect(() => content(options)).toThrow(expect.objectContaining({ code: 'layer.config' }))
  })
})
