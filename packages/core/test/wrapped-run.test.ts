import { expect, it } from 'vitest'
import { manualClock } from '../../testing/src/index.ts'
import { record } from '../src/context.ts'
import { delegate, type Middleware, type Snapshot } from '../src/index.ts'
import { around } from './around.ts'
import { build, oneCall, tool } from './kit.ts'

it('a wrapper knows what was asked for, and the session as it was before', async () => {
  const before: Snapshot[] = []
  const tasks: unknown[] = []
  const watch = around((run, next) => {
    before.push(run.before())
    tasks.push(run.task)
    return next()
  })
  const { agent } = build(['one', 'two'], [watch])
  const session = agent.session()
  await session.run('first')
  await session.run('second', { maxSteps: 3 })
  expect(before.map(({ history, turnCount }) => [history.length, turnCount])).toEqual([
    [0, 0],
    [2, 1],
  ])
  expect(tasks[1]).toMatchObject({ input: 'second', decisions: undefined, options: { maxSteps: 3 } })
})

it('a layer with inherit wraps the hooks of sub-agents too, their own layers and their core', async () => {
  const seen: string[] = []
  const wraps: Middleware = {
    name: 'wraps',
    inherit: true,
    wrapHooks: ({ layer, scope, run }) => {
      return (ctx, next) => {
        seen.push(`${(ctx as { agent: { name: string } }).agent.name} ${scope} ${layer ?? '(core)'}`)
        return run(ctx, next)
      }
    },
  }
  const own: Middleware = { name: 'own', model: (_, next) => next() }
  const inner: Middleware = { name: 'inner', innermost: true, model: (_, next) => next() }
  const child = build(['Found.'], [inner, own, { ...wraps, name: 'too' }], { name: 'child' })
  const work = tool('work', async (_, ctx) => (await delegate(ctx, child.agent, 'find'))?.text)
  const { agent } = build(oneCall, [wraps], { name: 'lead', tools: [work] })
  await agent.run('hi')
  const ofChild = seen.filter((line) => line.startsWith('child model'))
  expect(ofChild).toEqual([
    ...['child model own', 'child model own', 'child model inner', 'child model inner'],
    ...['child model (core)', 'child model (core)'],
  ])
})

it('a run and its sub-agents use the clock of the run', async () => {
  const clock = manualClock(5_000)
  const times: number[] = []
  const notes: Middleware = {
    name: 'notes',
    turn(ctx, next) {
      times.push(ctx.clock.now(), ctx.startedAt)
      record(ctx, 'seen', {})
      return next()
    },
  }
  const child = build(['Found.'], [notes], { name: 'child' })
  const work = tool('work', async (_, ctx) => (await delegate(ctx, child.agent, 'find'))?.text)
  const { agent } = build([...oneCall, 'later'], [notes], { tools: [work] })
  const session = agent.session()
  await session.run('hi', { clock })
  expect(times).toEqual([5_000, 5_000, 5_000, 5_000])
  const { turnId } = await session.run('again')
  expect([times[4] === 5_000, turnId !== undefined]).toEqual([false, true])
})
