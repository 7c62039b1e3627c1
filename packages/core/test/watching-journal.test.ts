import { expect, it } from 'vitest'
import { delegate, type Emit, type Journal } from '../src/index.ts'
import { around } from './around.ts'
import { build, oneCall, tool } from './kit.ts'

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
