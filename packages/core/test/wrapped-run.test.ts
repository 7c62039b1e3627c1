import { expect, it } from 'vitest'
import { manualClock } from '../../testing/src/index.ts'
import { aroundRun, record } from '../src/context.ts'
import { type AroundRun, delegate, type Emit, type Journal, type Middleware, type Snapshot } from '../src/index.ts'
import { build, oneCall, tool } from './kit.ts'

function around(wrapper: AroundRun): Middleware {
  return {
    name: 'watches',
    session(ctx, next) {
      aroundRun(ctx, wrapper)
      return next()
    },
  }
}

/** A journal that notes the ids of the steps that run, and forwards all else. */
function noting(journal: Journal, ids: string[]): Journal {
  return {
    ...journal,
    step: (id, work, emit) => {
      ids.push(id.replace(/^.*?:\d+:/, ''))
      return journal.step(id, work, emit)
    },
  }
}

function noted<C>(items: unknown[], emit: Emit<C>): Emit<C> {
  return (item) => {
    items.push(item)
    return emit(item)
  }
}

it('a wrapper can put its own journal around that of the run, and sees the steps of sub-agents too', async () => {
  const ids: string[] = []
  const child = build(['Found.'], [], { name: 'child' })
  const work = tool('work', async (_, ctx) => (await delegate(ctx, child.agent, 'find'))?.text)
  const watch = around((run, next) => {
    run.journal = noting(run.journal as Journal, ids)
    return next()
  })
  const { agent } = build(oneCall, [watch], { tools: [work] })
  await agent.run('hi')
  expect(ids).toEqual(['model:0:1', 'tool:c1:1', 'model:0:1', 'model:1:1'])
})

it('a journal that only watches gets the chunks without a fingerprint, and forwards what the journal inside says', async () => {
  const items: unknown[] = []
  const compares: (boolean | undefined)[] = []
  const watch = around((run, next) => {
    const { step, ...rest } = run.journal as Journal
    compares.push(rest.compares)
    run.journal = { ...rest, step: (id, work, emit) => step(id, work, noted(items, emit)) }
    return next()
  })
  const { agent } = build(['ok', 'ok'], [watch])
  await agent.run('hi')
  const watched = items.length
  await agent.run('hi', { journal: { step: (_id, work, emit) => work(emit) } })
  expect([compares, items.length - watched]).toEqual([[false, undefined], watched + 1])
})

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
