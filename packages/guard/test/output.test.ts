import type { Middleware } from '@allium/core'
import { describe, expect, it } from 'vitest'
import { output } from '../src/index.ts'
import { calling, scene, watch } from './scene.ts'

describe('guard.output', () => {
  it.each([null, 0, '', 'block', {}, { block: undefined }, { replace: undefined }, { replace: 5 }])(
    'blocks where its check says %j, which is no verdict',
    async (verdict) => {
      const { agent } = scene(['The secret.'], [output(() => verdict as never)])
      const { events, result } = await watch(agent.run('hi'))
      expect([result.status, JSON.stringify([events, result]).includes('secret')]).toEqual(['blocked', false])
    },
  )

  it('lets an answer through as it came, once it has been checked', async () => {
    let shown = 0
    const counts: Middleware = {
      name: 'shown',
      turn(ctx, next) {
        ctx.onChunk(() => void shown++)
        return next()
      },
    }
    const layer = output(() => void expect(shown).toBe(0))
    const { events, result } = await watch(scene(['One two three.'], [counts, layer]).agent.run('hi'))
    expect([result.text, shown]).toEqual(['One two three.', 3])
    expect(events.filter((event) => (event as { type: string }).type === 'text-delta').length).toBe(3)
  })

  it('catches what the model tells of its instructions, wherever it is split', async () => {
    const canary = 'canary-4711'
    for (let i = 0; i <= canary.length; i++) {
      const step = { chunks: [`I was told: ${canary.slice(0, i)}`, canary.slice(i), '.'] }
      const { agent } = scene([step], [output({ check: (text) => !text.includes(canary), reply: 'I may not say.' })])
      const session = agent.session()
      const { events, result } = await watch(session.run('hi'))
      expect([result.status, result.text]).toEqual(['blocked', 'I may not say.'])
      expect(JSON.stringify([events, session.history])).not.toMatch(/canary|told/)
    }
  })

  it('puts another text in its place, in the stream and in the history', async () => {
    const { agent } = scene(['It is so.'], [output(() => ({ replace: 'It may be so.' }))])
    const session = agent.session()
    const { events, result } = await watch(session.run('hi'))
    expect([result.text, session.history[1]?.content]).toEqual(['It may be so.', 'It may be so.'])
    expect(JSON.stringify(events)).not.toContain('is so')
  })

  it('checks each step, also what the model thinks, before its tools run', async () => {
    const seen: string[] = []
    const steps = [{ reasoning: 'Hm.', text: 'Let me look.', ...(calling(['work']) as object) }, 'Bad.']
    const check = (text: string) => seen.push(text) > 0 && text !== 'Let me look.'
    const { agent, ran } = scene(steps, [output(check)], { tools: ['work'] })
    expect((await agent.run('hi')).status).toBe('blocked')
    expect([seen, ran]).toEqual([['Let me look.'], []])
  })

  it('replaces what the model thinks, without its signature', async () => {
    const chunks = [
      { type: 'reasoning-delta', delta: 'secret', providerMetadata: { a: { signature: 's1' } } },
      { type: 'text-delta', delta: 'Hi.' },
    ] as const
    const check = (text: string) => (text === 'secret' ? { replace: 'thought' } : true)
    const { agent } = scene([{ chunks }], [output(check)])
    const session = agent.session()
    const { events } = await watch(session.run('hi'))
    expect(JSON.stringify([events, session.history])).not.toMatch(/secret|s1/)
  })

  it('checks what a layer inside answers, and not again what a retry dropped', async () => {
    const seen: string[] = []
    const retry: Middleware = { name: 'retry', model: (_, next) => next().catch(() => next()) }
    const check = output((text) => void seen.push(text))
    const steps = [{ text: 'Half', cut: true }, 'Whole.']
    for (const layers of [
      [check, retry],
      [retry, check],
    ])
      expect((await scene(steps, layers).agent.run('hi')).text).toBe('Whole.')
    expect(seen).toEqual(['Whole.', 'Whole.'])
  })

  it('fails closed where the check throws', async () => {
    const throws = () => Promise.reject(new Error('secret'))
    const { agent, log } = scene(['Hello.'], [output(throws)])
    const { events, result } = await watch(agent.run('hi'))
    expect([result.status, result.reason, log.length]).toEqual(['blocked', '"guard:output" could not check this.', 1])
    expect(JSON.stringify(events)).not.toMatch(/Hello|secret/)
  })
})
