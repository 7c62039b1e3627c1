import { describe, expect, it } from 'vitest'
import { aroundRun, record } from '../src/context.ts'
import { type AroundRun, defineMiddleware, type Journal, type StoredTurn } from '../src/index.ts'
import { build, oneCall, rest, settled, tool } from './kit.ts'

function around(wrapper: AroundRun, name = 'wraps') {
  return defineMiddleware({
    name,
    session(ctx, next) {
      aroundRun(ctx, wrapper)
      return next()
    },
  })
}

/** A wrapper that notes the run and its stored turn. */
function noting(log: unknown[], name = 'notes') {
  return around(async (run, next) => {
    log.push(`${name} ${run.kind}`)
    const turn = await next()
    log.push(`${name} ${turn.status}`)
    return turn
  }, name)
}

describe('aroundRun()', () => {
  it('wraps runs from the first layer inward, outside the turn and its end', async () => {
    const log: unknown[] = []
    const { agent } = build(['ok'], [noting(log, 'outer'), noting(log, 'inner')])
    agent.use('turn', async (_, next) => {
      log.push('turn')
      await next()
      log.push('left')
    })
    agent.on('turn:end', () => log.push('turn:end'))
    await agent.run('hi')
    expect(log).toEqual(['outer run', 'inner run', 'turn', 'left', 'inner completed', 'outer completed', 'turn:end'])
  })

  it('has no getters of its own, which would keep the run in memory until a full collection', async () => {
    const own: PropertyDescriptorMap[] = []
    const { agent } = build(
      ['ok'],
      [
        around((run, next) => {
          own.push(Object.getOwnPropertyDescriptors(run))
          return next()
        }),
      ],
    )
    await agent.run('hi')
    expect(own.flatMap((fields) => Object.keys(fields).filter((name) => fields[name]?.get !== undefined))).toEqual([])
  })

  it('has the final turn, from the first message that the store does not have', async () => {
    const turns: StoredTurn[] = []
    const { agent } = build(
      ['one', 'two'],
      [around((_, next) => next().then((turn) => turns[turns.push(turn) - 1] as StoredTurn))],
    )
    const session = agent.session()
    const { turnId } = await session.run('1')
    await session.run('2')
    expect(turns.map(({ from, answer, messages }) => [from, answer, messages.length])).toEqual([
      [0, 'one', 2],
      [2, 'two', 2],
    ])
    expect(turns[0]).toMatchObject({ turnId, status: 'completed', agent: 'agent', records: [] })
  })

  it.each([
    ['failed', [{ error: new Error('down') }], () => {}],
    ['aborted', [{ text: 'never', stall: true }], (run: { abort(): void }) => run.abort()],
    ['blocked', ['ok'], () => {}],
    ['suspended', oneCall, () => {}],
    ['stopped', oneCall, () => {}],
  ] as const)('resolves next() for a turn that is %s', async (status, steps, act) => {
    const log: unknown[] = []
    const { agent } = build(steps as never, [noting(log)], {
      tools: [tool('work', () => 'worked', { requireApproval: status === 'suspended' })],
      ...(status === 'stopped' && { maxSteps: 1 }),
    })
    if (status === 'blocked') agent.use('turn', (ctx) => ctx.block('no'))
    const run = agent.session().run('hi')
    await rest()
    act(run)
    await settled(run)
    expect(log).toEqual(['notes run', `notes ${status}`])
  })

  it('refuses a second next() by name, and the turn is not lost', async () => {
    const { agent, model } = build(['ok'], [around(async (_, next) => next().then(() => next()), 'twice')])
    const session = agent.session()
    const { error } = await settled(session.run('hi'))
    expect(error).toMatchObject({ code: 'layer.next_twice', message: expect.stringContaining('"twice"') })
    expect([error?.partial.text, model.calls, session.history.length]).toEqual(['ok', 1, 0])
  })

  it('answers a run with a stored turn, and nothing inside runs', async () => {
    let stored: StoredTurn | undefined
    const log: unknown[] = []
    const keyed = around(async ({ idempotencyKey }, next) => {
      if (stored !== undefined && stored.idempotencyKey === idempotencyKey) return stored
      stored = await next()
      return stored
    })
    const declared = { ...keyed, order: { is: ['sessionStorage'] } }
    const { agent, model } = build(['one', 'two'], [declared, noting(log)])
    const first = await agent.session({ id: 's' }).run('hi', { idempotencyKey: 'k' })
    const again = await agent.session({ id: 's' }).run('hi', { idempotencyKey: 'k' })
    expect([again.text, again.turnId]).toEqual(['one', first.turnId])
    expect([model.calls, log]).toEqual([1, ['notes run', 'notes completed']])
  })

  it('rejects next() if the run never began, and nothing has changed', async () => {
    const log: unknown[] = []
    const { agent } = build(
      ['ok'],
      [around((_, next) => next().catch((error) => Promise.reject(log.push(error.code) && error)))],
    )
    const session = agent.session()
    const { error } = await settled(session.resume({ c1: { approve: true } }))
    expect([error?.code, log, session.history.length]).toEqual(['approval.unknown', ['approval.unknown'], 0])
    expect((await session.run('hi')).text).toBe('ok')
  })

  it('rejects a run that a wrapper swallowed the refusal of, and one that has no turn', async () => {
    const swallows = build(['ok'], [around((_, next) => next().catch(() => undefined as never))])
    const { error } = await settled(swallows.agent.session().resume({ c1: { approve: true } }))
    expect(error?.code).toBe('approval.unknown')
    const skips = build(['ok'], [around(() => undefined as never)])
    expect((await settled(skips.agent.run('hi'))).error?.code).toBe('layer.no_next')
  })

  it('waits for a turn that a wrapper did not wait for, and fails it', async () => {
    const log: string[] = []
    const { agent } = build(['ok'], [around((_, next) => void next() as never)])
    agent.on('turn:end', ({ status }) => log.push(status))
    const { error } = await settled(agent.run('hi'))
    expect([error?.code, error?.partial.text, log]).toEqual(['layer.floating_next', 'ok', ['failed']])
  })

  it('fails a run whose wrapper throws, and rolls it back', async () => {
    const down = new Error('the disk is full')
    let armed = true
    const stores = around(async (_, next) => {
      const turn = await next()
      if (armed) throw down
      return turn
    })
    const { agent } = build(['one', 'two'], [stores])
    const session = agent.session()
    const { error } = await settled(session.run('1'))
    expect([error, error?.partial.text, session.history.length]).toEqual([down, 'one', 0])
    armed = false
    await session.run('2')
    expect(session.history.map(({ content }) => content)).toEqual(['2', 'two'])
  })

  it('rejects next() where another process continues the run', async () => {
    const log: unknown[] = []
    const journal: Journal = { takenOver: true, step: (_, work, emit) => work(emit) }
    const wrapper = around((_, next) =>
      next().catch((error) => {
        log.push(error.code)
        throw error
      }),
    )
    const { agent } = build(['ok'], [wrapper])
    const session = agent.session()
    const { result } = await settled(session.run('hi', { turnId: 't', journal }))
    expect([result?.text, log, session.history.length]).toEqual(['ok', ['run.interrupted'], 0])
  })

  it('fails a run that could not be stored, also if its process is lost meanwhile', async () => {
    let lost = false
    const journal: Journal = {
      get takenOver() {
        return lost
      },
      step: (_, work, emit) => work(emit),
    }
    const wrapper = around(async (_, next) => {
      await next()
      lost = true
      throw new Error('fenced')
    })
    const { agent } = build(['ok'], [wrapper])
    const { error } = await settled(agent.run('hi', { turnId: 't', journal }))
    expect(error?.message).toBe('fenced')
  })

  it('wraps rewind() and what session layers leave behind as they close', async () => {
    const log: unknown[] = []
    const leaves = defineMiddleware({
      name: 'leaves',
      state: { closed: { default: false } },
      async session(ctx, next) {
        await next()
        ctx.state.closed = true
      },
    })
    const { agent } = build(['one', 'two'], [noting(log), leaves])
    const session = agent.session()
    const { turnId } = await session.run('1')
    await session.run('2')
    await session.rewind({ to: turnId })
    expect(session.history.length).toBe(2)
    await session.close()
    expect(log.slice(4)).toEqual(['notes rewind', 'notes rewound', 'notes close', 'notes closed'])
  })

  it('leaves the session as it was where a wrapper refuses a rewind()', async () => {
    const refuses = around((run, next) => (run.kind === 'rewind' ? Promise.reject(new Error('not now')) : next()))
    const { agent } = build(['one', 'two'], [refuses])
    const session = agent.session()
    const { turnId } = await session.run('1')
    await session.run('2')
    await expect(session.rewind({ to: turnId })).rejects.toThrow('not now')
    expect(session.history.length).toBe(4)
  })

  it('is refused once the session is open', async () => {
    let late: (() => void) | undefined
    const layer = defineMiddleware({
      name: 'late',
      async session(ctx, next) {
        late = () => aroundRun(ctx, (_, run) => run())
        await next()
      },
    })
    const { agent } = build(['ok'], [layer])
    await agent.session().run('hi')
    expect(late).toThrow('Layer "late" (session) called aroundRun() too late.')
  })
})

describe('record()', () => {
  it('warns unless a layer declares that it stores the session', async () => {
    const records: unknown[] = []
    const wraps = around(async (_, next) => {
      const turn = await next()
      records.push(...turn.records.map(({ data }) => data))
      return turn
    })
    const recording = defineMiddleware({
      name: 'records',
      async turn(ctx, next) {
        await next()
        record(ctx, 'sale', 1)
      },
    })
    const plain = build(['ok'], [wraps, recording])
    await plain.agent.run('hi')
    const storing = build(['ok'], [{ ...wraps, order: { is: ['sessionStorage'] } }, recording])
    await storing.agent.run('hi')
    expect([records, plain.log.length, storing.log.length]).toEqual([[1, 1], 1, 0])
  })
})
