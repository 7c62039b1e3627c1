import { isDeepStrictEqual } from 'node:util'
import { type Message, textOf } from '@allium/core'
import type { LedgerBalance } from '@allium/store'
import type { Plan } from './plan.ts'
import { boot, type Process } from './process.ts'
import { accounts, World } from './world.ts'

/** Plays a plan without a kill and with one, and tells what differs; nothing where all is well. */
export async function difference(plan: Plan): Promise<unknown> {
  const whole = new World()
  await fill(plan, whole)
  const wanted = await ended(boot(plan, whole, 1_000_000), whole)

  const world = new World()
  await fill(plan, world)
  const first = boot(plan, world, 1_000_000)
  const steps = 1 + Math.floor(plan.diesAt * whole.recorded.length)
  const dead = world.killAfter(Math.min(steps, whole.recorded.length))
  await first.clock.until(Promise.race([dead, first.run().catch(() => {})]))
  world.reboot()
  const got = await ended(boot(plan, world, first.clock.now() + plan.down), world)
  const differs = compare(wanted, got)
  const again = repeated(plan, whole, world)
  return differs === undefined && again.length === 0 ? undefined : { differs, again }
}

/** An earlier turn of another session fills the caches that processes share. */
async function fill(plan: Plan, world: World): Promise<void> {
  if (plan.caches !== 'filled') return
  const earlier = boot({ ...plan, layers: plan.layers.filter((kind) => caches.has(kind)) }, world, 0, false)
  await earlier.clock.until(earlier.run().catch(() => {}))
  world.forget()
}

const caches: ReadonlySet<string> = new Set(['cache', 'toolsCache', 'retry'])

async function ended({ clock, session, run }: Process, world: World) {
  const result = await clock.until(
    run().then(
      ({ status, text, usage, reason }) => ({ status, text, usage, reason }),
      (error: { code?: string; name: string }) => ({ error: error.code ?? error.name }),
    ),
  )
  return hashless({
    result,
    history: session.history.map(told),
    state: withoutCut(stateOf(session.state), 'guard:budget:spent', world),
    ledger: withoutCut(sum(await Promise.all(accounts.map((name) => world.ledger.balance(name)))), 'spent', world),
    audit: world.audit.lines.map(kindOf).sort(),
  })
}

/** Hashes of a secret that was drawn: each by its place. */
function hashless<T extends object>(ended: T): T {
  const places = new Map<string, number>()
  const named = JSON.stringify(ended).replaceAll(/\[EMAIL:\w+/g, (hash) => {
    if (!places.has(hash)) places.set(hash, places.size)
    return `[EMAIL:${places.get(hash)}`
  })
  return JSON.parse(named) as T
}

/** A call that a kill has cut is money as well, by its estimate: it comes on top. */
function withoutCut<T extends object>(given: T, key: string, { cut }: World): T {
  const spent = (given as Record<string, unknown>)[key]
  return typeof spent === 'number' ? { ...given, [key]: spent - cut } : given
}

function sum(balances: readonly LedgerBalance[]): LedgerBalance {
  const [spent, reserved] = (['spent', 'reserved'] as const).map((key) =>
    balances.reduce((all, balance) => all + balance[key], 0),
  )
  return { spent: spent as number, reserved: reserved as number }
}

function told(message: Message): unknown {
  const { role, content } = message
  if (typeof content === 'string') return [role, content]
  return [role, textOf(message), ...content.flatMap((part) => (part.type === 'tool-result' ? [part.content] : []))]
}

/** Without what times are. */
function stateOf(state: object): object {
  return Object.fromEntries(Object.entries(state).filter(([key]) => !/waited|duration|:run$|secret|vault/.test(key)))
}

function kindOf(line: string): string {
  const { type, turnId, call, callId, attempt, agent } = JSON.parse(line)
  return JSON.stringify([type, turnId, call, callId, attempt, agent])
}

function compare(wanted: object, got: object): unknown {
  const all = Object.entries(wanted).filter(
    ([key, value]) => !isDeepStrictEqual(plain(value), plain((got as Record<string, unknown>)[key])),
  )
  if (all.length === 0) return undefined
  return Object.fromEntries(
    all.map(([key, value]) => [key, { wanted: value, got: (got as Record<string, unknown>)[key] }]),
  )
}

/** Without what a time is, and what is digested of hashes that differ. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, one) => (key === 'time' || key === 'digest' ? undefined : one)))
}

/** What was done more often than without a kill, although it was recorded. */
function repeated(plan: Plan, whole: World, world: World): unknown[] {
  const empty = plan.caches === 'own'
  const [wanted, recorded, after] = [whole.counts(), world.counts(0), world.counts(1)]
  return [...after].flatMap(([key, times]) => {
    const before = recorded.get(key) ?? 0
    const most = Math.max(0, (wanted.get(key) ?? 0) - before)
    // Where nobody had ended what many wait for, two may begin it.
    const mayBeTwo = empty || (key.startsWith('tool look') && plan.layers.includes('toolsCache'))
    return times > most && !(mayBeTwo && before === 0)
      ? [`${key}: ${before} recorded, ${times} after, ${most} due`]
      : []
  })
}
