import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { ScriptedStep } from '../../testing/src/index.ts'
import { type Message, type Middleware, textOf } from '../src/index.ts'
import { build, tool } from './kit.ts'

/** So many turns of the queue of microtasks. */
const ticks = async (count: number) => {
  for (let i = 0; i < count; i++) await null
}

const work = tool('work', async ({ ticks: count }: { ticks: number }) => {
  await ticks(count)
  return 'worked'
})
const call = (count: number): ScriptedStep => ({ toolCalls: [{ name: 'work', args: { ticks: count } }] })
const scripts: Readonly<Record<string, readonly ScriptedStep[]>> = {
  plain: ['One.'],
  tool: [call(9), 'Two.'],
  parallel: [
    {
      text: 'Both.',
      toolCalls: [
        { name: 'work', args: { ticks: 3 } },
        { name: 'work', args: { ticks: 20 } },
      ],
    },
    'Two.',
  ],
  fails: [call(4), { error: new Error('down') }],
}

/** What guards do to an input: what is said of a secret is changed, what is bad is blocked, each after a while. */
const guards: readonly Middleware[] = [
  {
    name: 'redact',
    turn(ctx, next) {
      ctx.onInput(async (message) => {
        await ticks(5)
        return { ...message, content: textOf(message).replace('secret', '[X]') }
      })
      return next()
    },
  },
  {
    name: 'wall',
    turn(ctx, next) {
      ctx.onInput(async (message) => {
        await ticks(3)
        if (textOf(message).includes('bad')) ctx.block('bad')
        if (textOf(message).includes('none')) return null
        if (textOf(message).includes('halt')) ctx.stop('halt')
        return undefined
      })
      return next()
    },
  },
]
const layers: Readonly<Record<string, Middleware>> = {
  hold: {
    name: 'hold',
    turn(ctx, next) {
      ctx.hold()
      return next()
    },
  },
  pipe: {
    name: 'pipe',
    async turn(ctx, next) {
      ctx.pipe(async function* (chunks) {
        for await (const chunk of chunks) {
          await ticks(2)
          yield chunk
        }
      })
      await next()
      await ticks(7)
    },
  },
  tail: {
    name: 'tail',
    turn(ctx, next) {
      ctx.pipe(async function* (chunks) {
        const kept = []
        for await (const chunk of chunks) kept.push(chunk)
        yield* kept
      })
      return next()
    },
  },
  stops: {
    name: 'stops',
    async model(ctx, next) {
      const response = await next()
      if (ctx.stepIndex === 1) ctx.stop('enough')
      return response
    },
  },
  asks: {
    name: 'asks',
    tool: async (ctx, next) => (ctx.callIndex === 1 ? ctx.suspend() : next()),
  },
  slow: {
    name: 'slow',
    async turn(_, next) {
      await ticks(6)
      await next()
      await ticks(6)
    },
  },
}

const steer = fc.record({
  at: fc.nat(150),
  says: fc.constantFrom('plain', 'my secret', 'bad', 'none', 'bad secret', 'halt'),
})
const scene = fc.record({
  script: fc.constantFrom(...Object.keys(scripts)),
  layers: fc.subarray(Object.keys(layers)),
  steers: fc.array(steer, { minLength: 1, maxLength: 3 }),
  maxSteps: fc.constantFrom(1, 2, 10),
  abortAt: fc.option(fc.nat(150), { nil: undefined, freq: 4 }),
})

it('lets no steered message pass a guard, hears each once or gives it back, at every await of a turn', async () => {
  await fc.assert(fc.asyncProperty(scene, play), { numRuns: 1500, seed: 7 })
}, 120_000)

async function play({
  script,
  layers: names,
  steers,
  maxSteps,
  abortAt,
}: typeof scene extends fc.Arbitrary<infer T> ? T : never) {
  const all = [...guards, ...names.map((name) => layers[name] as Middleware)]
  const more = Array<ScriptedStep>(8).fill('More.')
  const { agent, model } = build([...(scripts[script] ?? []), ...more], all, { tools: [work], maxSteps })
  const session = agent.session()
  const run = session.run('hi')
  const shown = read(run)
  const said = steers.map(async ({ at, says }, i) => {
    await ticks(at)
    return {
      says: `${says} ${i}`,
      ...(await run.steer(`${says} ${i}`).catch(({ code }) => ({ delivered: false, code }))),
    }
  })
  if (abortAt !== undefined) void ticks(abortAt).then(() => run.abort('over'))
  const result = await run.catch(() => undefined)
  const outcomes = await Promise.all(said)
  const heardIn = (messages: readonly Message[]) =>
    messages
      .filter(({ role }) => role === 'user')
      .map((message) => textOf(message))
      .slice(1)
  const history = heardIn(session.history)
  const kept = outcomes.filter(({ delivered }) => delivered).map(({ says }) => says.replace('secret', '[X]'))
  expect([...history].sort()).toEqual(kept.sort())
  for (const { delivered, says } of outcomes) if (/bad|none|halt/.test(says)) expect(delivered).toBe(false)
  for (const { messages } of model.requests)
    expect(heardIn(messages)).toEqual(history.slice(0, heardIn(messages).length))
  if (result !== undefined && history.length > 0 && result.status === 'completed')
    expect(heardIn(model.requests.at(-1)?.messages ?? [])).toEqual(history)
  const answers = session.history.filter(({ role }) => role === 'assistant').map((message) => textOf(message))
  const { text, ends, starts } = await shown
  expect(answers.join('')).toBe(text)
  if (result !== undefined) {
    const steps = Array(starts).fill(['finish', 'step:end']).flat()
    // What a layer holds comes at once, behind the ends of its steps.
    if (names.includes('hold')) expect(ends.slice().sort()).toEqual(steps.slice().sort())
    else expect(ends).toEqual(steps)
  }
  if (result !== undefined && history.length > 0) expect(result.text).toBe(answers.at(-1))
}

/** What the reader of a run has in the end: the text of all answers, and how each step ended. */
async function read(run: AsyncIterable<{ type: string; delta?: unknown }>) {
  let text = ''
  let before = ''
  const ends: string[] = []
  let starts = 0
  try {
    for await (const event of run) {
      if (event.type === 'step:start') {
        before = text
        starts++
      }
      if (event.type === 'model:reset') text = before
      if (event.type === 'text-delta') text += event.delta
      if (event.type === 'finish' || event.type === 'step:end') ends.push(event.type)
    }
  } catch {}
  return { text, ends, starts }
}
