import type { ScopeName } from '../src/index.ts'
import { build, type Failure, oneCall, rest, tool } from './kit.ts'

type Next = () => Promise<never>

/** Ways to use next() that are errors. `leak` keeps the next() for later. */
export const misuses = {
  async twice(next: Next) {
    await next()
    return next()
  },
  async running(next: Next) {
    return (await Promise.all([next(), next()]))[0]
  },
  async floating(next: Next) {
    next()
    return undefined as never
  },
  floatingSync(next: Next) {
    next()
    return undefined as never
  },
  async never() {
    return undefined as never
  },
  neverSync() {
    return undefined as never
  },
  async late(next: Next, leak: (next: Next) => void) {
    leak(next)
    return next()
  },
} as const

/** What a misuse in one scope came to: every error that a caller met, and how often the layer inside ran. */
export async function misuse(scope: ScopeName, how: keyof typeof misuses) {
  let inner = 0
  let leaked: Next | undefined
  const count = (next: Next) => {
    inner++
    return next()
  }
  const bad = {
    name: 'bad',
    [scope]: (_: unknown, next: Next) => misuses[how](next, (one) => (leaked ??= one)),
  }
  const inside = { name: 'inside', [scope]: (_: unknown, next: Next) => count(next) }
  const { agent, model } = build([...oneCall, 'spare'], [bad, inside], { tools: [tool('work', rest)] })
  const errors: Failure[] = []
  const meet = (promise: PromiseLike<unknown> | undefined) =>
    promise?.then(undefined, (error) => void errors.push(error))
  await meet(agent.init())
  const session = agent.session()
  await meet(session.run('hi'))
  await meet(session.close())
  await meet(agent.dispose())
  if (leaked !== undefined) await meet((async () => leaked?.())())
  return {
    inner,
    calls: model.calls,
    errors: errors.map(({ code, details }) => ({ code, layer: details?.layer, scope: details?.scope })),
    messages: errors.map(({ message }) => message),
  }
}

const codes = {
  twice: 'layer.next_twice',
  running: 'layer.next_running',
  floating: 'layer.floating_next',
  floatingSync: 'layer.floating_next',
  late: 'layer.next_late',
} as const

export function codeOf(how: keyof typeof misuses, scope: ScopeName): string {
  if (how === 'never' || how === 'neverSync')
    return scope === 'model' || scope === 'tool' ? 'layer.no_result' : 'layer.no_next'
  return codes[how]
}
