import type { Middleware } from '@allium/core'
import { expect, it } from 'vitest'
import { injection, pii } from '../src/index.ts'
import { calling, scene } from './scene.ts'

const steps = [calling(['look', { at: 'the shelf' }]), 'One.', 'Two.', 'Three.']

it('guard.pii looks at what is sent once, however long the conversation becomes', async () => {
  const seen: string[] = []
  const detector = {
    type: 'nothing',
    find: (text: string) => seen.slice(seen.push(text)).map(() => ({ start: 0, end: 0 })),
  }
  const layers = pii({ types: [], detectors: [detector], apply: ['input'] }) as unknown as Middleware[]
  const session = scene(steps, layers, { tools: ['look'] }).agent.session()
  for (const input of ['1', '2', '3']) await session.run(input)
  for (const text of ['the shelf', 'look 1', 'One.']) expect(seen.filter((one) => one === text)).toHaveLength(1)
})

it('guard.injection marks a result once, and hands on all else as it is', async () => {
  const seen: (readonly unknown[])[] = []
  const watch: Middleware = {
    name: 'watch',
    innermost: true,
    model(ctx, next) {
      seen.push(ctx.request.messages.filter(({ role }) => role !== 'system'))
      return next()
    },
  }
  const session = scene(steps, [injection() as Middleware, watch], { tools: ['look'] }).agent.session()
  for (const input of ['1', '2', '3']) await session.run(input)
  const [third = [], fourth = []] = seen.slice(2)
  expect(JSON.stringify(third)).toContain('<untrusted-')
  expect(third.slice(0, 3).map((message, i) => message === fourth[i])).toEqual([true, true, true])
})

it('guard.pii looks at a stored text once, however often the session is loaded', async () => {
  const seen: string[] = []
  const find = (text: string) => seen.slice(seen.push(text)).map(() => ({ start: 0, end: 0 }))
  const layers = pii({ types: [], detectors: [{ type: 'nothing', find }], apply: ['input'] }) as unknown as Middleware[]
  const { agent } = scene(['One.', 'Two.', 'Three.'], layers)
  let session = agent.session()
  for (const input of ['1', '2', '3']) {
    await session.run(input)
    const stored = JSON.stringify(session.snapshot())
    session = agent.session()
    session.restore(JSON.parse(stored))
  }
  for (const text of ['1', '2', 'One.', 'Two.']) expect(seen.filter((one) => one === text)).toHaveLength(1)
})
