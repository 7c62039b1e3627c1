import { Agent, type Middleware, type RunOptions } from '@allium/core'
import type { SessionStore } from '@allium/store'
import { memoryStore } from '@allium/store'
import { manualClock, scriptedModel } from '@allium/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { persist } from '../src/index.ts'

/** What may hang: before the turn begins, or in it. */
const before = ['agent layer', 'session layer', 'load', 'acquire', 'granted', 'take over', 'find', 'journal'] as const
const resuming = ['acquire', 'canApprove', 'validate'] as const
const inside = ['resolveModel', 'requireApproval', 'checkpoint', 'execute'] as const
type Place = (typeof before)[number] | (typeof resuming)[number] | (typeof inside)[number]

const kinds = ['first', 'later', 'resume'] as const
const ways = [
  'abort()',
  'session.abort()',
  'a signal',
  'an aborted signal',
  'dispose()',
  'close()',
  'its reader',
] as const
const lates = ['value', 'error'] as const

const principal = { tenantId: 'acme', userId: 'ann' }
const key = { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'chat' }

/** Waits for a condition by turns of the event loop, not by time. */
async function until(what: string, holds: () => boolean): Promise<void> {
  for (let i = 0; !holds(); i++) {
    if (i > 2000) throw new Error(`It never came: ${what}.`)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** Something hangs once, at the place that is armed, until it is let go. */
function hanging() {
  let armed: Place | undefined
  let go: ((late: (typeof lates)[number]) => void) | undefined
  return {
    arm: (place: Place | undefined) => void (armed = place),
    get reached() {
      return go !== undefined
    },
    async at(place: Place): Promise<void> {
      if (armed !== place) return
      armed = undefined
      const late = await new Promise((resolve) => (go = resolve))
      if (late === 'error') throw new Error(`late at ${place}`)
    },
    letGo: (late: (typeof lates)[number]) => go?.(late),
  }
}

function world(place: Place) {
  const hang = hanging()
  const clock = manualClock()
  const kept = memoryStore()
  const store: SessionStore = {
    ...kept,
    load: async (...of) => {
      await hang.at('load')
      const stored = await kept.load(...of)
      if (stored?.open !== undefined) await hang.at('take over')
      return stored
    },
    find: async (...of) => hang.at('find').then(() => kept.find(...of)),
    checkpoint: async (...of) => hang.at('checkpoint').then(() => kept.checkpoint(...of)),
    async acquire(...of) {
      await hang.at('acquire')
      const acquired = await kept.acquire(...of)
      await hang.at('granted')
      return acquired
    },
  }
  const opened: string[] = []
  const closed: string[] = []
  const layer = (scope: 'agent' | 'session'): Middleware => ({
    name: `opens ${scope}`,
    async [scope](_: unknown, next: () => Promise<void>) {
      await hang.at(`${scope} layer`)
      opened.push(scope)
      try {
        await next()
      } finally {
        closed.push(scope)
      }
    },
  })
  const pay = {
    name: 'pay',
    description: 'Pays.',
    jsonSchema: { type: 'object' },
    requireApproval: () => hang.at('requireApproval').then(() => true),
    execute: () => hang.at('execute').then(() => 'paid'),
  }
  const look = { ...pay, name: 'look', requireApproval: false, execute: () => hang.at('execute').then(() => 'seen') }
  const steps = Array.from(
    { length: 50 },
    () =>
      ({ messages }: { messages: readonly { role: string; content: unknown }[] }) => {
        const last = messages.at(-1)
        return last?.role === 'user' && last.content !== 'hi' ? { toolCalls: [{ name: String(last.content) }] } : 'done'
      },
  )
  const model = scriptedModel(steps as never)
  const agent = new Agent({
    model: 'm',
    clock,
    resolveModel: () => hang.at('resolveModel').then(() => model),
    tools: [pay, look],
    validate: () => hang.at('validate').then(() => []),
    approvals: { canApprove: () => hang.at('canApprove').then(() => true) },
    onBusy: 'queue',
    logger: { warn() {}, error() {} },
  })
    .use([layer('agent'), layer('session')])
    .use(persist({ store }))
  const errors: unknown[] = []
  agent.on('observer:error', ({ error }) => errors.push((error as Error).message))
  return {
    agent,
    session: agent.session({ id: 'chat', principal }),
    hang,
    clock,
    store: kept,
    opened,
    closed,
    errors,
    place,
  }
}
type World = ReturnType<typeof world>

/** Brings the session to where the run that hangs begins, and starts that: in an object, since a run can be awaited. */
async function started({ session, hang, store, place }: World, kind: (typeof kinds)[number], signal?: AbortSignal) {
  const options: RunOptions = signal === undefined ? {} : { signal }
  if (kind === 'resume') {
    const { pending } = await session.run('pay')
    const [call] = pending
    hang.arm(place)
    return {
      run: session.resume(
        { [call?.callId as string]: place === 'validate' ? { args: { a: 1 } } : { approve: true } },
        options,
      ),
    }
  }
  if (kind === 'later') await session.run('hi')
  if (place === 'take over') await lose(store)
  hang.arm(place)
  if (place === 'find') options.idempotencyKey = 'k'
  if (place === 'journal') {
    options.turnId = 'own'
    options.journal = { step: async (_, work) => hang.at('journal').then(() => work(() => {})) }
  }
  return {
    run: session.run(
      place === 'requireApproval' ? 'pay' : place === 'execute' || place === 'checkpoint' ? 'look' : 'hi',
      options,
    ),
  }
}

/** A process that has died while it ran the session. */
async function lose(store: SessionStore): Promise<void> {
  const { lease } = await store.acquire(key, 1000)
  const { version = 0, history = [] } = (await store.load(key)) ?? {}
  if (lease === undefined) throw new Error('Nobody has it.')
  const usage = { inputTokens: 0, outputTokens: 0, calls: 0 }
  const turn = { turnId: 'lost', rootId: 'lost', agent: 'agent', status: 'running' as const, startedAt: 0, usage }
  await store.checkpoint(lease, version, {
    ...turn,
    answer: null,
    records: [],
    from: history.length,
    messages: [],
    rest: { state: {} },
  })
  await store.release(lease)
}

/** Ends the run, and gives what it came to. */
async function ended(world: World, kind: (typeof kinds)[number], way: (typeof ways)[number]) {
  const controller = new AbortController()
  if (way === 'an aborted signal') controller.abort('why')
  const { run } = await started(world, kind, way.includes('signal') ? controller.signal : undefined)
  const reader = way === 'its reader' ? run[Symbol.asyncIterator]() : undefined
  const end = run.then(
    () => 'resolved',
    (error: unknown) => error,
  )
  if (way !== 'an aborted signal') await until(`it hangs at ${world.place}`, () => world.hang.reached)
  let over: Promise<unknown> = Promise.resolve()
  if (way === 'abort()') run.abort('why')
  if (way === 'session.abort()') world.session.abort('why')
  if (way === 'a signal') controller.abort('why')
  if (way === 'its reader') await reader?.return?.()
  if (way === 'dispose()') {
    over = world.agent.dispose({ timeout: 1000 })
    await world.clock.advance(1000)
  }
  if (way === 'close()') {
    over = world.session.close()
    run.abort('why')
  }
  let error: unknown
  end.then((seen) => (error = seen))
  await until('the end of the run', () => error !== undefined)
  await over
  return error
}

function unhandled(): unknown[] {
  const seen: unknown[] = []
  const note = (error: unknown) => void seen.push(error)
  process.on('unhandledRejection', note)
  onTestFinished(() => void process.off('unhandledRejection', note))
  return seen
}

/** Where a store's grant is lost on the way, the lease runs out by itself. */
const isLost = ({ place, late }: { place: Place; late: string }) => place === 'granted' && late === 'error'

function reaches(place: Place, kind: (typeof kinds)[number]): boolean {
  if (kind === 'resume') return (resuming as readonly string[]).includes(place)
  if (['agent layer', 'session layer', 'load'].includes(place)) return kind === 'first'
  return place !== 'canApprove' && place !== 'validate'
}

const places = [...new Set<Place>([...before, ...resuming, ...inside])]
const cases = places
  .flatMap((place) => kinds.filter((kind) => reaches(place, kind)).map((kind) => ({ place, kind })))
  .flatMap((one) => ways.flatMap((way) => lates.map((late) => ({ ...one, way, late }))))
  .filter((one) => !isLost(one))

describe('a run that hangs', () => {
  it.each(cases)('at $place ($kind run) is ended by $way, and its late $late is undone', async (one) => {
    const { place, kind, way, late } = one
    const nobody = unhandled()
    const the = world(place)
    const { session, hang, store, errors } = the
    const error = await ended(the, kind, way)
    const reached = hang.reached
    hang.arm(undefined)
    expect(error).toMatchObject({ name: 'AbortError', partial: { sessionId: 'chat', text: '' } })
    const isInside = (inside as readonly string[]).includes(place)
    // A turn that began is stored as aborted; of a run that did not begin nothing is.
    expect((await store.load(key))?.version ?? 0).toBe((kind === 'first' ? 0 : 1) + (isInside && reached ? 1 : 0))
    const isOpen = way !== 'dispose()' && way !== 'close()'
    // The store has granted a lease whose holder has not heard of it.
    if (isOpen && place !== 'granted') expect((await session.run('hi')).text).toBe('done')
    hang.letGo(late)
    if (isOpen) expect((await retried(() => session.run('hi'))).text).toBe('done')
    await the.agent.dispose()
    await until('all that was opened is closed', () => the.opened.length === the.closed.length)
    expect((await retried(() => taken(store))).lease).toBeDefined()
    const isReported = late === 'error' && reached && !isInside
    await until('the late error is reported', () => errors.length > 0 || !isReported)
    expect(errors).toHaveLength(isReported ? 1 : 0)
    // A rule or a validator that throws says no, in words of its own.
    if (isReported && !['canApprove', 'validate'].includes(place)) expect(errors).toEqual([`late at ${place}`])
    expect(nobody).toEqual([])
  })
})

async function taken(store: SessionStore) {
  const acquired = await store.acquire(key, 1000)
  if (acquired.lease === undefined) throw Object.assign(new Error('held'), { code: 'session.busy' })
  return acquired
}

/** Again while the session is held: its release is on its way. */
async function retried<T>(make: () => PromiseLike<T>): Promise<T> {
  for (let i = 0; ; i++)
    try {
      return await make()
    } catch (error) {
      if ((error as { code?: string }).code !== 'session.busy' || i > 100) throw error
      await new Promise((resolve) => setImmediate(resolve))
    }
}
