import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as guard from '../src/guard.ts'
import * as memory from '../src/memory.ts'
import * as model from '../src/model.ts'
import * as observe from '../src/observe.ts'
import * as tools from '../src/tools.ts'
import { kinds } from './every-layer/cases.ts'
import { chance, inSession, runCase } from './every-layer/turns.ts'
import { type World, world } from './every-layer/world.ts'

const names = Object.keys(kinds)
const tenants = Array.from({ length: 10 }, (_, i) => `tenant-${i}`)

/** Exports of the packs that are no layers. */
const others = [
  'auditFile',
  'exportSessions',
  'guardCodes',
  'importSessions',
  'injectionScore',
  'isTransient',
  'memoryKeyValue',
  'objectStream',
  'recalled',
  'verify',
]

describe('one agent with every layer of every pack', { timeout: 400_000 }, () => {
  let all: World
  beforeAll(async () => {
    all = await world()
  })
  afterAll(() => all.close())

  it('has every one of them', () => {
    const registered = all.agent.inspect().layers.map(({ name }) => name)
    for (const [pack, exported] of Object.entries({ guard, memory, model, observe, tools }))
      for (const layer of Object.keys(exported).filter((name) => !others.includes(name)))
        expect(
          registered.filter((name) => name.startsWith(`${pack}:${layer}`)),
          `${pack}.${layer}`,
        ).not.toEqual([])
  })

  it.each(names.map((kind, i) => [kind, i + 1] as const))('comes through a turn of the kind %s', async (kind, n) => {
    await inSession(all, 'one', (session) => runCase(all, session, 'one', kind, n))
    expect(await all.balance('one')).toEqual({ spent: all.server.tokens.get('one') ?? 0, reserved: 0 })
  })

  it('comes through 1,000 mixed turns of ten tenants at once, with nothing lost, leaked or kept', async () => {
    const random = chance(7)
    const turns = Array.from({ length: 1_000 }, (_, i) => ({
      n: 100 + i,
      kind: names[random() % names.length] as string,
    }))
    const heaps: number[] = []
    for (const part of [turns.slice(0, 400), turns.slice(400)]) {
      await Promise.all(
        tenants.map((tenant, i) =>
          mixed(
            tenant,
            part.filter(({ n }) => n % 10 === i),
          ),
        ),
      )
      expect(all.spans()).toBeGreaterThan(part.length)
      heaps.push(heapAfterCollection())
    }
    const [early = 0, late = 0] = heaps
    expect(late - early, 'bytes that 600 turns have left').toBeLessThan(8_000_000)
    for (const tenant of tenants)
      expect(await all.balance(tenant)).toEqual({ spent: all.server.tokens.get(tenant), reserved: 0 })
    expect([...all.server.seen.leaks, ...all.told.leaks]).toEqual([])
    expect(await all.measured(), 'measured calls').toBe(all.server.seen.calls)
    // The log has a record of the same moments.
    expect(await all.verified()).toMatchObject({ ok: true, records: all.told.logs })
  })

  /** Turns of one tenant, a few in each session. */
  async function mixed(tenant: string, turns: { n: number; kind: string }[]) {
    for (let i = 0; i < turns.length; i += 8)
      await inSession(all, tenant, async (session) => {
        for (const { kind, n } of turns.slice(i, i + 8)) await runCase(all, session, tenant, kind, n)
      })
  }
})

/** Bytes in use once all garbage is gone. */
function heapAfterCollection(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  collect()
  return process.memoryUsage().heapUsed
}
