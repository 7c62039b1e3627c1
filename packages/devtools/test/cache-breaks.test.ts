import { Agent, defineMiddleware } from 'allium'
import { promptCache } from 'allium/prompt-cache'
import { scriptedModel } from 'allium/testing'
import { expect, test } from 'vitest'
import { money, tokens } from '../web/parts/format.ts'
import { cacheBreaksOf } from '../web/store/cache-breaks.ts'
import type { Turn } from '../web/store/trace.ts'

test('a turn names the layer that broke the prompt cache, from which token on, and the cost', async () => {
  let now = 0
  const stamp = defineMiddleware({
    name: 'stamp',
    async model(ctx, next) {
      ctx.addSystemMessage(`It is ${now++} o'clock.`)
      return next()
    },
  })
  const events: { event: { type: string } }[] = []
  const agent = new Agent({ model: scriptedModel(['Hi.', 'Hi.']), instructions: 'Be kind. '.repeat(300) })
    .use(promptCache({ minLostTokens: 1 }))
    .use(stamp)
  const session = agent.session()
  for (const input of ['Hello '.repeat(500), 'And now?'])
    for await (const event of session.run(input)) events.push({ event })
  const [line, ...others] = cacheBreaksOf({ events } as unknown as Turn, money)
  expect(line).toMatch(
    /^Model call 1: prompt cache broken by stamp in \w+, from token \d+: [\d,]+ of [\d,]+ tokens lost/,
  )
  expect(others).toEqual([])
})

test('tokens say how many of them the provider read from its cache', () => {
  expect(tokens({ inputTokens: 1200, outputTokens: 5, cachedInputTokens: 800 })).toBe('1,200 in (800 cached), 5 out')
  expect(tokens({ inputTokens: 1200, outputTokens: 5 })).toBe('1,200 in, 5 out')
})
