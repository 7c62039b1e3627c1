import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Agent, type AgentOptions, type Middleware } from '@allium/core'
import { type ManualClock, manualClock, type ScriptedStep, scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { type OnionSpan, onion } from '../src/index.ts'

describe('observe.onion', () => {
  it('draws the layers of a turn as a tree, each with its own time', async () => {
    const { text } = await scene([slowly('hi', 12)], [waits('a', 'turn', 1), waits('b', 'model', 2)])
    expect(text).toBe(`Turn 1 of the session "s", completed after 15.0 ms
└─ turn · a                         1.0 ms  passed
   └─ loop                          0.0 ms
      └─ model scripted/model · b   2.0 ms  passed
         └─ scripted/model         12.0 ms`)
  })

  it('draws the core of an agent without layers', async () => {
    const { text } = await scene(['hi'], [])
    expect(text).toBe(`Turn 1 of the session "s", completed after 0.0 ms
└─ turn · loop                0.0 ms
   └─ model · scripted/model  0.0 ms`)
  })

  it('shows every step, its tools side by side', async () => {
    const twoCalls = { toolCalls: [{ name: 'work' }, { name: 'rest' }] }
    const { text } = await scene([twoCalls, 'done'], [passing('policy', 'tool')])
    expect(text).toBe(`Turn 1 of the session "s", completed after 0.0 ms
└─ turn · loop                0.0 ms
   ├─ model · scripted/model  0.0 ms
   ├─ tool work · policy      0.0 ms  passed
   │  └─ work                 0.0 ms
   ├─ tool rest · policy      0.0 ms  passed
   │  └─ rest                 0.0 ms
   └─ model · scripted/model  0.0 ms`)
  })

  it('keeps to the columns that it is given, and to 90 else', async () => {
    const talkative: Middleware = { name: 'talkative', tool: (ctx) => ctx.deny('because '.repeat(40)) }
    const { layers, turnId } = await scene([callsWork, 'ok'], [passing('x'.repeat(80), 'model'), talkative])
    const widest = (width?: number) =>
      Math.max(
        ...layers
          .toText(turnId, width === undefined ? {} : { width })
          .split('\n')
          .map((line) => line.length),
      )
    expect(widest()).toBe(90)
    expect(widest(60)).toBe(60)
    expect(widest(Number.POSITIVE_INFINITY)).toBeGreaterThan(200)
  })

  it('keeps names and decisions readable where the tree is deep', async () => {
    const names = Array.from({ length: 20 }, (_, i) => `layer-${i}`)
    const { text } = await scene(
      ['hi'],
      names.map((name) => passing(name, 'model')),
    )
    for (const name of names) expect(text).toMatch(new RegExp(`${name} +0\\.0 ms  passed$`, 'm'))
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(90)
  })

  it('lets each piece of a line be coloured, without moving a column', async () => {
    const policy: Middleware = { name: 'policy', tool: (ctx) => ctx.deny('not today') }
    const { layers, turnId, text } = await scene([callsWork, 'ok'], [policy])
    const kinds: string[] = []
    const painted = layers.toText(turnId, {
      paint(piece, kind) {
        kinds.push(kind)
        return `<${piece}>`
      },
    })
    expect(painted.replace(/[<>]/g, '')).toBe(text)
    expect(painted).toContain('<tool work · ><policy>')
    expect(painted).toContain('<denied: not today>')
    expect(new Set(kinds)).toEqual(new Set(['heading', 'branch', 'call', 'layer', 'core', 'time', 'stopped']))
  })

  it('tells of a layer that answered in place of the model', async () => {
    const cache: Middleware = { name: 'cache', model: (ctx) => ctx.skipCall('cached') }
    const late: Middleware = {
      name: 'late-cache',
      model(ctx, next) {
        ctx.skipCall('cached')
        return next()
      },
    }
    for (const layer of [cache, late]) {
      const { decisions, words } = await scene([], [passing('outer', 'model'), layer])
      expect(decisions).toEqual({ loop: 'passed', outer: 'passed', [layer.name]: 'skipped' })
      expect(words).toContain(`"${layer.name}" answered the model call itself; nothing inside ran.`)
    }
  })

  it('tells of a layer that answered the turn itself', async () => {
    const greeter: Middleware = {
      name: 'greeter',
      turn(ctx) {
        ctx.output = 'hello yourself'
      },
    }
    const { words } = await scene([], [passing('outer', 'turn'), greeter])
    expect(words).toContain('"greeter" answered the turn itself; nothing inside ran.')
  })

  it('tells who denied a tool, however it was done', async () => {
    const returns: Middleware = { name: 'policy', tool: (ctx) => ctx.deny('not today') }
    const goesOn: Middleware = {
      name: 'policy',
      tool(ctx, next) {
        ctx.deny('not today')
        return next()
      },
    }
    const hides: Middleware = {
      name: 'policy',
      tool(ctx) {
        ctx.deny('not today')
        return 'nothing happened'
      },
    }
    for (const layer of [returns, goesOn, hides]) {
      const { decisions, words } = await scene([callsWork, 'ok'], [passing('outer', 'tool'), layer])
      expect(decisions).toMatchObject({ outer: 'passed', policy: 'denied' })
      expect(words).toContain('"policy" denied the call of "work": not today')
    }
  })

  it('tells that a tool waits for a human', async () => {
    const { words } = await scene([{ toolCalls: [{ name: 'refund' }] }, 'ok'], [passing('outer', 'tool')])
    expect(words).toContain('The tool "refund" waits for a human.')
  })

  it('tells which layer let a call wait for a human, however it was done', async () => {
    const returns: Middleware = { name: 'asks', tool: (ctx) => ctx.suspend() }
    const goesOn: Middleware = {
      name: 'asks',
      tool(ctx, next) {
        ctx.suspend()
        return next()
      },
    }
    for (const layer of [returns, goesOn]) {
      const { decisions, words } = await scene([callsWork], [passing('outer', 'tool'), layer])
      expect(decisions).toMatchObject({ outer: 'passed', asks: 'suspended' })
      expect(words).toContain('"asks" let the call of "work" wait for a human.')
    }
  })

  it.each(['turn', 'model', 'tool'] as const)('tells who blocked the turn in the %s scope, and why', async (scope) => {
    const guard: Middleware = {
      name: 'guard',
      [scope]: (ctx: { block(reason: string): never }) => ctx.block('too spicy'),
    }
    const { words, decisions } = await scene([callsWork], [passing('outer', scope), guard])
    expect(words).toMatch(
      /^Turn 1 of the session "s", blocked after 0\.0 ms: too spicy\n"guard" blocked the turn.*: too spicy$/,
    )
    expect(decisions).toMatchObject({ outer: 'passed', guard: 'blocked' })
  })

  it('tells who aborted the turn', async () => {
    const guard: Middleware = { name: 'guard', model: (ctx) => ctx.abort('enough') }
    const { words } = await scene([], [guard])
    expect(words).toContain('"guard" aborted the model call: enough')
  })

  it('tells an abort from outside by what it cut off', async () => {
    const { words } = await scene([{ text: 'hi', stall: true }], [passing('outer', 'model')], { abort: 'user left' })
    expect(words).toContain('aborted after 0.0 ms')
    expect(words).toContain('The model "scripted/model" was cut off by an abort')
  })

  it('tells which layer failed, and which ones its error only passed', async () => {
    const broken: Middleware = {
      name: 'broken',
      model() {
        throw new Error('bug')
      },
    }
    const { decisions, words } = await scene([], [passing('outer', 'model'), broken])
    expect(decisions).toEqual({ loop: 'passed', outer: 'passed', broken: 'failed' })
    expect(words).toContain('"broken" failed at the model call: bug')
  })

  it('counts attempts, and says after what', async () => {
    const { text, words } = await scene(
      [new Error('503'), new Error('502'), 'ok'],
      [retrying, passing('meter', 'model')],
    )
    expect(words).toContain('"retry" ran the model call 3 times, after: 502')
    expect(words).toContain('The model "scripted/model" failed: 503')
    expect(text.match(/meter/g)).toHaveLength(3)
    expect(text).toContain('retried 2 times: 502')
  })

  it('tells of a layer that gave an answer of its own after a failure', async () => {
    const calm: Middleware = { name: 'calm', model: (_, next) => next().catch(() => 'sorry') }
    const { words } = await scene([new Error('503')], [calm])
    expect(words).toContain('"calm" answered in place of the model call, which had failed: 503')
  })

  it('tells who changed the answer, by its return value, in place, or in the stream', async () => {
    const returns: Middleware = {
      name: 'redact',
      async model(ctx, next) {
        ctx.hold()
        return { ...(await next()), text: '***' }
      },
    }
    const inPlace: Middleware = {
      name: 'redact',
      async model(ctx, next) {
        ctx.hold()
        const response = await next()
        response.text = '***'
        return response
      },
    }
    const streams: Middleware = {
      name: 'redact',
      model(ctx, next) {
        ctx.onChunk((chunk) => ('delta' in chunk ? { ...chunk, delta: '***' } : chunk))
        return next()
      },
    }
    for (const layer of [returns, inPlace, streams]) {
      const { decisions, words } = await scene(
        ['secret'],
        [passing('outer', 'model'), layer, passing('inner', 'model')],
      )
      expect(decisions).toMatchObject({ outer: 'passed', redact: 'changed', inner: 'passed' })
      expect(words).toContain('"redact" changed the result of the model call.')
    }
  })

  it('tells who changed a tool result, and the output of the turn', async () => {
    const cutting: Middleware = {
      name: 'cutting',
      async tool(_, next) {
        await next()
        return 'cut'
      },
    }
    const polite: Middleware = {
      name: 'polite',
      async turn(ctx, next) {
        await next()
        ctx.output = `${ctx.output} Goodbye!`
      },
    }
    const { decisions } = await scene([callsWork, 'ok'], [passing('outer', 'turn'), polite, cutting])
    expect(decisions).toMatchObject({ outer: 'passed', polite: 'changed', cutting: 'changed' })
  })

  it('tells what a layer outside left behind', async () => {
    const impatient: Middleware = {
      name: 'impatient',
      async model(_, next) {
        return next({ signal: AbortSignal.abort(new DOMException('too slow', 'TimeoutError')) }).catch(() => 'gave up')
      },
    }
    const { decisions } = await scene([], [impatient, passing('inner', 'model')])
    expect(decisions.impatient).toBe('recovered')
  })

  it('tells why a turn was stopped', async () => {
    const stopping: Middleware = {
      name: 'stopping',
      model(ctx, next) {
        ctx.stop('that will do')
        return next()
      },
    }
    const { words } = await scene(['hi'], [stopping])
    expect(words).toContain('stopped after 0.0 ms: that will do')
  })

  it('sees the layers of a run, and the innermost ones where they stand', async () => {
    const meter: Middleware = { ...passing('meter', 'model'), innermost: true }
    const { text } = await scene(['hi'], [meter, passing('outer', 'model')], { use: [passing('of-run', 'model')] })
    expect(text.match(/outer|of-run|meter/g)).toEqual(['outer', 'of-run', 'meter'])
  })

  it('gives the turn as data', async () => {
    const { layers, turnId } = await scene([slowly('hi', 12)], [waits('a', 'model', 2)])
    expect(layers.timeline(turnId)).toMatchObject({
      turnId,
      sessionId: 's',
      turnIndex: 0,
      status: 'completed',
      duration: 14,
      root: {
        layer: 'loop',
        core: true,
        children: [
          {
            layer: 'a',
            subject: 'scripted/model',
            scope: 'model',
            start: 0,
            duration: 14,
            self: 2,
            decision: 'passed',
            entered: 1,
          },
        ],
      },
    })
    expect(JSON.parse(JSON.stringify(layers.timeline(turnId)))).toEqual(layers.timeline(turnId))
  })

  it('keeps the last turns alone', async () => {
    const layers = onion({ maxTurns: 2 })
    const session = new Agent({ model: scriptedModel(['a', 'b', 'c']) }).use(layers).session()
    const ids: string[] = []
    for (let turn = 0; turn < 3; turn++) ids.push((await session.run('hello')).turnId)
    expect(layers.turns()).toEqual(ids.slice(1))
    expect(layers.timeline(ids[0] as string)).toBeUndefined()
    expect(layers.explain(ids[0] as string)).toBe(`Nothing is kept of the turn "${ids[0]}".`)
  })

  it('lets go of answers and errors once the turn is over', async () => {
    const layers = onion()
    const error = await thrownIn(
      new Agent({ model: scriptedModel([{ text: 'hi', error: new Error('gone') }]) }).use(layers),
    )
    await collectGarbage()
    expect(error.deref()).toBeUndefined()
    expect(layers.explain(layers.turns()[0] as string)).toContain('gone')
  })

  it('keeps turns apart that run at once', async () => {
    const layers = onion()
    const steps = Array.from({ length: 20 }, () => ['a', 'b']).flat()
    const agent = new Agent({ model: scriptedModel(steps) }).use(layers).use(passing('a', 'model'))
    const results = await Promise.all(steps.map(() => agent.run('hello')))
    for (const { turnId } of results) expect(layers.toText(turnId).split('\n')).toHaveLength(4)
  })

  it('can be asked while the turn runs', async () => {
    const layers = onion()
    let text = ''
    const agent = new Agent({ model: scriptedModel(['hi']) }).use(layers).use('model', (ctx, next) => {
      text = layers.toText(ctx.turnId)
      return next()
    })
    await agent.run('hello')
    expect(text).toContain('running')
  })

  it('lets nothing of a name or a message break its lines', async () => {
    const broken: Middleware = {
      name: 'broken\u001b[31m',
      model() {
        throw new Error('line\nbreak\u2028\u202e')
      },
    }
    const { text } = await scene([], [broken])
    expect(text).toContain('broken\\u001b[31m')
    expect(text).toContain('line\\nbreak\\u2028\\u202e')
    expect(text.split('\n')).toHaveLength(3)
  })

  it('changes nothing of a run: the same events, the same error', async () => {
    const error = new Error('overloaded')
    for (const steps of [[callsWork, 'a b c'], [{ text: 'half', error }], [{ text: 'half', cut: true }]]) {
      const seen = async (watch: Middleware[]) => {
        const events: unknown[] = []
        const model = scriptedModel(steps)
        const run = new Agent({ model, tools, ids: () => 'id', clock: manualClock() })
          .use(watch)
          .use(passing('a', 'model'))
          .run('hello')
        try {
          for await (const event of run) events.push(event)
        } catch (thrown) {
          events.push(thrown)
        }
        return events
      }
      expect(await seen([onion()])).toEqual(await seen([]))
    }
  })

  it('lets the run through where it cannot record it', async () => {
    const broken = {
      ...manualClock(),
      monotonic() {
        throw new Error('no time')
      },
    }
    const hostile = Object.create(null, { name: { get: () => expect.fail('looked') } })
    for (const clock of [broken, manualClock()]) {
      const agent = new Agent({ model: scriptedModel(['hi', { error: hostile }]), clock })
        .use(onion())
        .use(passing('a', 'model'))
      expect((await agent.run('hello')).text).toBe('hi')
      await expect(agent.run('hello')).rejects.toBe(hostile)
    }
  })

  it('still finds a layer that forgets to await its next()', async () => {
    const floating: Middleware = {
      name: 'floating',
      turn(_, next) {
        void next()
      },
    }
    const run = new Agent({ model: scriptedModel(['hi']) }).use(onion()).use(floating).run('hello')
    await expect(run).rejects.toMatchObject({ code: 'layer.floating_next' })
  })

  it('gives sessions no layers of their own, so that the agent need not keep them until they close', async () => {
    let closed = 0
    const agent = new Agent({ model: scriptedModel(['hi']) }).use(onion())
    agent.on('session:end', () => closed++)
    await agent.session().run('hello')
    await agent.dispose()
    expect(closed).toBe(0)
  })

  it('is not shown among the layers of the agent’s calls', () => {
    const agent = new Agent({ model: scriptedModel([]) }).use(onion()).use(passing('a', 'model'))
    expect(agent.inspect().scopes.model).toEqual(['a'])
  })
})

/** The error of a run, held by nobody here. */
async function thrownIn(agent: Agent): Promise<WeakRef<object>> {
  try {
    await agent.run('hello')
  } catch (error) {
    return new WeakRef(error as object)
  }
  return expect.fail('The run did not fail.')
}

async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  await new Promise((resolve) => setImmediate(resolve))
  gc()
}

const tools: AgentOptions['tools'] = [
  { name: 'work', description: 'Works', jsonSchema: { type: 'object' }, execute: () => 'worked' },
  { name: 'rest', description: 'Rests', jsonSchema: { type: 'object' }, execute: () => 'rested' },
  {
    name: 'refund',
    description: 'Refunds',
    jsonSchema: { type: 'object' },
    execute: () => 'done',
    requireApproval: true,
  },
]
const callsWork: ScriptedStep = { toolCalls: [{ name: 'work' }] }

type Scope = 'turn' | 'model' | 'tool'

function passing(name: string, scope: Scope): Middleware {
  return { name, [scope]: (_: unknown, next: () => Promise<unknown>) => next() }
}

/** Takes its time, half before and half after. */
function waits(name: string, scope: Scope, ms: number) {
  return (clock: ManualClock): Middleware => ({
    name,
    async [scope](_: unknown, next: () => Promise<unknown>) {
      await clock.advance(ms / 2)
      const result = await next()
      await clock.advance(ms / 2)
      return result
    },
  })
}

function slowly(text: string, ms: number) {
  return (clock: ManualClock): ScriptedStep =>
    async () => {
      await clock.advance(ms)
      return text
    }
}

const retrying: Middleware = {
  name: 'retry',
  async model(_, next) {
    for (;;)
      try {
        return await next()
      } catch {}
  },
}

type Timed<T> = T | ((clock: ManualClock) => T)

async function scene(
  steps: (ScriptedStep | ReturnType<typeof slowly>)[],
  around: Timed<Middleware>[],
  { use, abort }: { use?: Middleware[]; abort?: string } = {},
) {
  const clock = manualClock()
  const layers = onion()
  const model = scriptedModel(steps.map((step) => (isTimed(step) ? step(clock) : step)))
  const agent = new Agent({ model, tools, clock, logger: { warn() {}, error() {} } })
    .use(layers)
    .use(around.map((layer) => (typeof layer === 'function' ? layer(clock) : layer)))
  const run = agent.session({ id: 's' }).run('hello', { use })
  if (abort !== undefined) {
    await clock.advance(0)
    run.abort(abort)
  }
  await run.settled()
  const [turnId = ''] = layers.turns()
  const decisions: Record<string, string> = {}
  const walk = ({ layer, decision, children }: OnionSpan) => {
    decisions[layer] ??= decision
    children.forEach(walk)
  }
  const { root } = layers.timeline(turnId) ?? {}
  if (root !== undefined) walk(root)
  const { 'scripted/model': _, work: __, ...ofLayers } = decisions
  return { layers, turnId, text: layers.toText(turnId), words: layers.explain(turnId), decisions: ofLayers }
}

/** Steps that take time are made with the clock, before the model asks them. */
function isTimed(step: ScriptedStep | ReturnType<typeof slowly>): step is ReturnType<typeof slowly> {
  return typeof step === 'function' && step.length === 1
}

describe('onSpan', () => {
  it('tells onSpan each moment of each span, with the decision at its end', async () => {
    const moments: string[] = []
    const layer = onion({
      onSpan: ({ phase, span }) => void moments.push(`${phase} ${span.scope} ${span.layer} ${span.decision}`),
    })
    const short = { name: 'short', model: (_: unknown, next: () => Promise<never>) => next() }
    await new Agent({ model: scriptedModel(['Hi.']) }).use(layer).use(short).run('Hello')
    expect(moments.filter((moment) => moment.includes('short'))).toEqual([
      'open model short running',
      'next model short running',
      'returned model short running',
      'close model short passed',
    ])
  })

  it('an error of onSpan does not reach the run', async () => {
    const layer = onion({
      onSpan() {
        throw new Error('onSpan failed')
      },
    })
    expect((await new Agent({ model: scriptedModel(['Hi.']) }).use(layer).run('Hello')).text).toBe('Hi.')
  })
})
