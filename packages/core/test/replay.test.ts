import { describe, expect, it } from 'vitest'
import { type MemoryJournal, memoryJournal } from '../../store/src/journal.ts'
import { type ScriptedStep, scriptedModel } from '../../testing/src/index.ts'
import { aroundRun, record } from '../src/context.ts'
import { Agent, type AnyTool, delegate, type Middleware, type TurnView } from '../src/index.ts'
import { merged } from '../src/messages/join-deltas.ts'
import { read, tool } from './kit.ts'

const ids = () => 'fixed'
const silent = { warn() {}, error() {} }
const busy: ScriptedStep[] = [
  {
    text: 'Looking it up.',
    toolCalls: [
      { name: 'find', callId: 'a', args: { q: 1 } },
      { name: 'find', callId: 'b', args: { q: 2 } },
    ],
  },
  { error: new Error('overloaded'), text: 'Half' },
  { toolCalls: [{ name: 'send', callId: 'c' }] },
  'All done.',
]

/** Repeats a failed call; transforms what streams; counts in state. */
const layers = (): Middleware[] => [
  {
    name: 'shout',
    turn(ctx, next) {
      ctx.onChunk((chunk) => (chunk.type === 'text-delta' ? { ...chunk, delta: chunk.delta.toUpperCase() } : undefined))
      return next()
    },
  },
  { name: 'retry', model: (_, next) => next().catch(() => next()) },
  {
    name: 'count',
    state: { calls: { default: 0, reducer: (a: number, b: number) => a + b } },
    async model(ctx, next) {
      ctx.state.calls = 1
      return next()
    },
  },
]

/** A process: an agent of its own over a journal, and a world that counts what physically happens. */
function boot(journal: MemoryJournal, world: { effects: string[]; calls: number }, more: readonly Middleware[] = []) {
  const model = scriptedModel(busy)
  const counted = { id: model.id, stream: (...args: Parameters<typeof model.stream>) => play(world, args[0]) }
  const act = (name: string): AnyTool => tool(name, (args) => world.effects.push(`${name} ${JSON.stringify(args)}`))
  const tools = [act('find'), act('send')]
  const agent = new Agent({ model: counted, tools, journal, ids, logger: silent, toolConcurrency: 1 })
  agent.use(layers()).use(more)
  return agent.session({ id: 's' })
}

/** The provider goes on with its script whichever process asks. */
async function* play(world: { calls: number }, request: Parameters<Agent['run']>[0] | object) {
  const step = busy[world.calls++] as ScriptedStep
  yield* scriptedModel([step]).stream(request as never)
}

/** A whole run, and what it came to. */
async function whole(journal = memoryJournal(), world = { effects: [] as string[], calls: 0 }) {
  const session = boot(journal, world)
  const run = session.run('go')
  const { events } = await read(run)
  // A journal keeps neighbouring deltas as one.
  return { events: merged(events), result: await run, history: session.history, world, journal }
}

describe('a run that is killed and replayed', () => {
  it.each([1, 2, 3, 4, 5, 6, 7])(
    'after step %i gives the same turn, the same stream, and no second physical call',
    async (steps) => {
      const untouched = await whole()
      const journal = memoryJournal()
      const world = { effects: [] as string[], calls: 0 }
      const dead = journal.killAfter(steps)
      const session = boot(journal, world)
      void session.run('go').catch(() => {})
      await dead
      const again = await whole(journal.reopen(), world)
      expect(again.events).toEqual(untouched.events)
      expect(again.result).toEqual(untouched.result)
      expect(again.history).toEqual(untouched.history)
      expect(world).toEqual(untouched.world)
      expect(new Set([...journal.ran, ...again.journal.ran]).size).toBe(journal.ran.length + again.journal.ran.length)
    },
  )

  it('records every physical step once, failed attempts among them', async () => {
    const { journal, world, result } = await whole()
    expect(journal.recorded.map((id) => id.replace('fixed:0:', ''))).toEqual([
      'model:0:1',
      'tool:a:1',
      'tool:b:1',
      'model:1:1',
      'model:1:2',
      'tool:c:1',
      'model:2:1',
    ])
    expect([world.calls, world.effects.length, result.usage.calls]).toEqual([4, 3, 4])
  })

  it('runs nothing at all where everything is recorded', async () => {
    const first = await whole()
    const second = await whole(first.journal.reopen())
    expect([second.journal.ran, second.world]).toEqual([[], { effects: [], calls: 0 }])
    expect([second.events, second.result]).toEqual([first.events, first.result])
  })

  it('does what ctx.once() was asked to do once', async () => {
    const journal = memoryJournal()
    const done: string[] = []
    const once: Middleware = {
      name: 'once',
      async turn(ctx, next) {
        await ctx.once('mail', () => done.push('mail'))
        await next()
      },
    }
    const world = { effects: [], calls: 0 }
    const dead = journal.killAfter(3)
    void boot(journal, world, [once])
      .run('go')
      .catch(() => {})
    await dead
    await boot(journal.reopen(), world, [once]).run('go')
    expect(done).toEqual(['mail'])
  })

  it('finds and chooses again what a layer found and chose in an attempt, without a trace in snapshots', async () => {
    const chance = [1, 2, 3, 4, 5, 6, 7, 8]
    const seen: unknown[][] = []
    const process = async (journal?: MemoryJournal) => {
      const found: unknown[] = []
      seen.push(found)
      const draw = (ctx: TurnView) => ctx.once('draw', () => chance.shift(), { per: 'attempt' })
      const draws: Middleware = {
        name: 'draws',
        async turn(ctx, next) {
          found.push(await draw(ctx))
          await next()
          found.push(session.snapshot().once ?? 'none')
        },
        async model(ctx, next) {
          found.push(await draw(ctx))
          return next()
        },
      }
      const agent = new Agent({
        model: scriptedModel([{ error: new Error('no') }, 'Done.']),
        ids,
        logger: silent,
        ...(journal && { journal }),
      })
      const session = agent.use(layers()).use(draws).session({ id: 's' })
      await session.run('go')
    }
    const journal = memoryJournal()
    await process(journal)
    await process(journal.reopen())
    await process()
    expect(seen).toEqual([
      [1, 2, 3, 'none'],
      [1, 2, 3, 'none'],
      [4, 5, 6, 'none'],
    ])
  })

  it('takes over what a sub-agent used, recorded and wrote from the recorded step of its call', async () => {
    const journal = memoryJournal()
    const counts: Middleware = {
      name: 'counts',
      inherit: true,
      state: { calls: { default: 0, reducer: (a: number, b: number) => a + b } },
      async model(ctx, next) {
        ctx.state.calls = 1
        record(ctx, 'called', ctx.model)
        return next()
      },
    }
    const stored: unknown[] = []
    const stores: Middleware = {
      name: 'stores',
      order: { is: ['sessionStorage'] },
      session(ctx, next) {
        aroundRun(ctx, async (_, run) => {
          const turn = await run()
          stored.push(turn.records.map(({ topic, data }) => `${topic} ${data}`))
          return turn
        })
        return next()
      },
    }
    const process = async (journal: MemoryJournal, steps: ScriptedStep[], inner: ScriptedStep[]) => {
      const setup = { journal, ids, logger: silent }
      const child = (name: string, script: ScriptedStep[], tools: AnyTool[] = []) =>
        new Agent({ name, model: scriptedModel(script, { id: name }), tools, logger: silent })
      const asks = (agent: Agent): AnyTool =>
        tool(`ask-${agent.name}`, (_, ctx) => delegate(ctx, agent, 'go').then((r) => r?.text))
      const grandchild = child('grandchild', inner)
      const middle = child('child', inner.length > 0 ? [{ toolCalls: [{ name: 'ask-grandchild' }] }, 'Found.'] : [], [
        asks(grandchild),
      ])
      const agent = new Agent({ ...setup, model: scriptedModel(steps), tools: [asks(middle)] }).use(counts).use(stores)
      const { usage, state, text } = await agent.session({ id: 's' }).run('go')
      return { usage, state, text }
    }
    const script = [{ toolCalls: [{ name: 'ask-child' }] }, 'Done.']
    const first = await process(journal, script, ['Deep.'])
    const second = await process(journal.reopen(), [], [])
    expect(first.usage.calls).toBe(5)
    expect(second).toEqual(first)
    expect(stored[1]).toEqual(stored[0])
  })

  it('goes on in the process that lost it: the key finds no run that had begun there before', async () => {
    const agent = new Agent({ model: scriptedModel([{ text: 'Half', error: new Error('lost') }, 'Whole.']) })
    const begin = () =>
      agent.session({ id: 'chat' }).run('Go', { turnId: 't', idempotencyKey: 'k', journal: memoryJournal() })
    const lost = begin()
    await expect(lost).rejects.toThrow('lost')
    const again = begin()
    expect(again).not.toBe(lost)
    expect((await again).text).toBe('Whole.')
  })

  it('runs a step again that was in the middle when the process died, and no other', async () => {
    const journal = memoryJournal()
    const ran: string[] = []
    const work = tool('work', ({ n }) => ran.push(n))
    const toolCalls = ['a', 'b', 'c'].map((n) => ({ name: 'work', callId: n, args: { n } }))
    const process = (journal: MemoryJournal, steps: ScriptedStep[]) =>
      new Agent({ model: scriptedModel(steps), tools: [work], journal, ids, logger: silent }).run('go')
    const dead = journal.killAfter(2)
    void process(journal, [{ toolCalls }]).catch(() => {})
    await dead
    const recorded = journal.recorded.at(-1)?.split(':').at(-2)
    await process(journal.reopen(), ['Done.'])
    expect(ran.filter((n) => n === recorded)).toHaveLength(1)
    expect([recorded, new Set(ran).size]).toEqual(['a', 3])
  })

  it('does not record a step that was cancelled', async () => {
    const journal = memoryJournal()
    const agent = new Agent({ model: scriptedModel([{ stall: true }]), journal, logger: silent })
    const run = agent.run('hi')
    await Promise.resolve()
    run.abort()
    await run.catch(() => {})
    expect(journal.recorded).toEqual([])
  })

  it('suspends and resumes through the journal, with one physical call of the tool', async () => {
    const effects: unknown[] = []
    const pay = tool('pay', (args) => effects.push(args), { requireApproval: true })
    const steps = [{ toolCalls: [{ name: 'pay', callId: 'p' }] }, 'Paid.']
    const journal = memoryJournal()
    const session = new Agent({ model: scriptedModel(steps), tools: [pay], journal, ids, logger: silent }).session()
    await session.run('pay')
    const snapshot = session.snapshot()
    const dead = journal.killAfter(1)
    void session.resume({ p: { approve: true } }).then(undefined, () => {})
    await dead
    const model = scriptedModel(['Paid.'])
    const next = new Agent({ model, tools: [pay], journal: journal.reopen(), ids, logger: silent }).session()
    next.restore(snapshot)
    const { text } = await next.resume({ p: { approve: true } })
    expect([text, effects.length, model.calls]).toEqual(['Paid.', 1, 1])
  })
})
