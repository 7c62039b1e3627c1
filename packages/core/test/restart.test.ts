import { describe, expect, it } from 'vitest'
import { type MemoryJournal, memoryJournal } from '../../store/src/journal.ts'
import { manualClock, type ScriptedStep, scriptedModel } from '../../testing/src/index.ts'
import { aroundRun, isReplaying, record } from '../src/context.ts'
import { Agent, type AnyTool, delegate, type Middleware, type Model, type RunOptions } from '../src/index.ts'
import { build, failure, gate, tool } from './kit.ts'

const call = (callId: string): ScriptedStep => ({ toolCalls: [{ name: 'work', callId }] })
const silent = { warn() {}, error() {} }

/** What runs until its journal has so many steps, and what runs then in another process. */
async function cutAfter(
  steps: number,
  process: (options: RunOptions, life: 1 | 2) => PromiseLike<unknown>,
): Promise<{ ran: readonly string[]; recorded: readonly string[] }> {
  const journal = memoryJournal()
  const dead = journal.killAfter(steps)
  void process({ turnId: 't', journal }, 1).then(undefined, () => {})
  await dead
  const again = journal.reopen()
  await process({ turnId: 't', journal: again }, 2)
  return again
}

describe('a run that is started again under its id', () => {
  it('has its id, its journal and the time at which it first began', async () => {
    const clock = manualClock()
    const began: number[] = []
    const see: Middleware = {
      name: 'see',
      turn(ctx, next) {
        began.push(ctx.startedAt)
        return next()
      },
    }
    const { ran } = await cutAfter(2, async (options, life) => {
      if (life === 2) await clock.advance(60_000)
      const { agent } = build(life === 1 ? [call('a')] : ['done'], [see], { clock, tools: [tool('work')] })
      return agent.run('go', options)
    })
    expect(ran).toEqual(['t:tool:a:1', 't:model:1:1'])
    expect(began).toEqual([began[0], began[0]])
  })

  it('takes over what inherited layers wrote and recorded as a sub-agent of any depth was asked', async () => {
    const told: unknown[] = []
    const counts: Middleware = {
      name: 'counts',
      inherit: true,
      state: { asked: { default: 0, reducer: (a: number, b: number) => a + b } },
      turn(ctx, next) {
        ctx.onInput((message, about) => {
          about.ctx.state.asked = 1
          record(about.ctx, 'asked', message.content)
        })
        return next()
      },
    }
    const stores: Middleware = {
      name: 'stores',
      order: { is: ['sessionStorage'] },
      session(ctx, next) {
        aroundRun(ctx, async (_, run) => {
          const turn = await run()
          told.push(turn.records.map(({ data }) => data))
          return turn
        })
        return next()
      },
    }
    const scripts = { child: [call('b'), 'found'], grandchild: ['deep'] }
    const asks = (name: 'child' | 'grandchild'): AnyTool =>
      tool('work', (_, ctx) => {
        const tools = name === 'child' ? [asks('grandchild')] : []
        return delegate(ctx, new Agent({ name, model: scriptedModel(scripts[name]), tools }), `for the ${name}`)
      })
    const states: unknown[] = []
    const process = (steps: ScriptedStep[], options: RunOptions) =>
      build(steps, [stores, counts], { tools: [asks('child')] })
        .agent.run('go', options)
        .then(({ state }) => states.push(state))
    await process([call('a'), 'done'], {})
    const { recorded } = await cutAfter(9, (options, life) =>
      process(life === 1 ? [call('a'), 'cut'] : ['done'], options),
    )
    expect(recorded).toContain('t:tool:a:1')
    expect(states).toEqual([states[0], { asked: 3 }])
    expect(told.at(-1)).toEqual(told[0])
  })

  it('has the instructions that a function gave it, which is asked once for a turn', async () => {
    const said: unknown[] = []
    let asked = 0
    await cutAfter(3, (options, life) => {
      const { agent, model } = build(life === 1 ? [call('a'), 'cut'] : ['done'], [], {
        tools: [tool('work')],
        instructions: () => `Asked ${++asked}.`,
      })
      return agent.run('go', options).then(() => said.push(model.requests.at(-1)?.messages[0]?.content))
    })
    expect([said, asked]).toEqual([['Asked 1.'], 1])
  })

  it('gives its journal to its sub-agents', async () => {
    const child = (life: number) =>
      new Agent({ name: 'child', model: scriptedModel(life === 1 ? ['from the child'] : []) })
    const { ran } = await cutAfter(4, (options, life) => {
      const ask = tool('work', (_, ctx) => delegate(ctx, child(life), 'do'))
      return build(life === 1 ? [call('a'), 'done'] : ['done'], [], { tools: [ask] }).agent.run('go', options)
    })
    expect(ran).toEqual(['t:tool:a:1', 't:model:1:1'])
  })

  it('is told what it has replayed, to each call its own part', async () => {
    const told: string[] = []
    const see = (life: number): Middleware => ({
      name: 'see',
      async turn(ctx, next) {
        await next()
        told.push(`${life} turn ${isReplaying(ctx)}`)
      },
      async model(ctx, next) {
        const response = await next()
        told.push(`${life} model ${ctx.callIndex} ${isReplaying(ctx)}`)
        return response
      },
      async tool(ctx, next) {
        const result = await next()
        told.push(`${life} tool ${ctx.callId} ${isReplaying(ctx)}`)
        return result
      },
    })
    await cutAfter(3, (options, life) =>
      build(life === 1 ? [call('a'), call('b')] : [call('b'), 'done'], [see(life)], {
        tools: [tool('work')],
      }).agent.run('go', options),
    )
    expect(told.filter((line) => line.startsWith('2'))).toEqual([
      '2 model 0 true',
      '2 tool a true',
      '2 model 1 false',
      '2 tool b false',
      '2 model 2 false',
      '2 turn false',
    ])
  })

  it('is refused under an id that is none, and with a journal that is none', async () => {
    const { agent } = build([])
    for (const options of [{ turnId: '' }, { turnId: 'a\0b' }, { turnId: 7 as never }, { journal: {} as never }])
      expect(await failure(agent.run('hi', options))).toMatchObject({ code: 'run.options' })
  })
})

describe('an attempt that was left', () => {
  /** The first model hangs in its first life, and would answer in its second. */
  const models = (life: number) => scriptedModel(life === 1 ? [{ stall: true }] : ['done'])
  const deadline = (late: AbortController, other: Model): Middleware => ({
    name: 'deadline',
    async model(ctx, next) {
      try {
        return await next({ signal: late.signal })
      } catch {
        ctx.setModel(other)
        return next()
      }
    },
  })

  it('is left at once where the run is replayed, and its model is not asked again', async () => {
    const { recorded, ran } = await cutAfter(3, async (options, life) => {
      const late = new AbortController()
      const other = scriptedModel(life === 1 ? [call('a')] : [])
      const seen: unknown[] = []
      const inner: Middleware = {
        name: 'inner',
        model: (_, next) =>
          next().catch((error) => {
            seen.push(error.message)
            return next()
          }),
      }
      const model = models(life)
      const agent = new Agent({ model, tools: [tool('work')], logger: silent })
      const run = agent.use(deadline(late, other)).use(inner).run('go', options)
      if (life === 1) setImmediate(() => late.abort(new Error('too late')))
      const { text } = (await run) as { text: string }
      expect([text, seen, model.calls]).toEqual(['done', ['too late'], 1])
    })
    expect(recorded.slice(0, 3)).toEqual(['t:start', 't:model:0:1', 't:model:0:2'])
    expect(ran).toEqual(['t:tool:a:1', 't:model:1:1'])
  })

  it('is recorded before the next one begins', async () => {
    const journal = memoryJournal()
    const late = new AbortController()
    const dead = journal.killAfter(2)
    const other: Model = { id: 'other', stream: () => expect.fail('It was asked before.') }
    const agent = new Agent({ model: models(1), logger: silent }).use(deadline(late, other))
    void agent.run('go', { turnId: 't', journal }).catch(() => {})
    setImmediate(() => late.abort(new Error('too late')))
    await dead
    expect(journal.recorded).toEqual(['t:start', 't:model:0:1'])
  })
})

describe('a tool that began and did not end', () => {
  const twice = async (onInterrupted?: 'retry' | 'fail' | 'ask') => {
    const ids: string[] = []
    const begun = gate()
    const process = (journal: MemoryJournal, steps: ScriptedStep[], execute: () => unknown) => {
      const work = tool('work', (_, ctx) => {
        ids.push(ctx.stepId)
        return execute()
      })
      const tools = [{ ...work, ...(onInterrupted !== undefined && { onInterrupted }) }]
      return build(steps, [], { tools }).agent.run('go', { turnId: 't', journal })
    }
    const journal = memoryJournal()
    const hangs = () => {
      begun.open()
      return new Promise(() => {})
    }
    void process(journal, [call('a')], hangs).catch(() => {})
    await begun.promise
    const { status, pending, toolCalls } = await process(journal.reopen(), ['ended'], () => 'done')
    return {
      ids,
      status,
      results: toolCalls.map(({ result }) => result.content),
      pending: pending.map(({ request }) => request),
    }
  }

  it('runs once more, with the id that it had', async () => {
    for (const onInterrupted of [undefined, 'retry'] as const)
      expect(await twice(onInterrupted)).toMatchObject({
        ids: ['t:tool:a:1', 't:tool:a:1'],
        status: 'completed',
        results: ['done'],
      })
  })

  it('is an error of unknown outcome for the model, where it says so', async () => {
    const { ids, status, results } = await twice('fail')
    expect([ids.length, status]).toEqual([1, 'completed'])
    expect(results).toEqual([expect.stringContaining('its outcome is unknown')])
  })

  it('waits for a person, where it says so', async () => {
    const { ids, status, pending } = await twice('ask')
    expect([ids.length, status]).toEqual([1, 'suspended'])
    const reason = expect.stringContaining('Approve the call to run it again')
    expect(pending).toEqual([{ reason, interrupted: 't:tool:a:1' }])
  })

  it('has the same id when it is approved, so that its service recognizes the repeated request', async () => {
    const ids: string[] = []
    const begun = gate()
    const session = (steps: ScriptedStep[], execute: () => unknown) => {
      const work = tool('work', (_, ctx) => {
        ids.push(ctx.stepId)
        begun.open()
        return execute()
      })
      return build(steps, [], { tools: [{ ...work, onInterrupted: 'ask' as const }] }).agent.session()
    }
    const journal = memoryJournal()
    void Promise.resolve(session([call('a')], () => new Promise(() => {})).run('go', { turnId: 't', journal })).catch(
      () => {},
    )
    await begun.promise
    const restarted = session(['ended'], () => 'done')
    const [waiting] = (await restarted.run('go', { turnId: 't', journal: journal.reopen() })).pending
    await restarted.resume({ a: { approve: true, token: waiting?.token } }, { turnId: 'u' })
    expect(ids).toEqual(['t:tool:a:1', 't:tool:a:1'])
  })
})
