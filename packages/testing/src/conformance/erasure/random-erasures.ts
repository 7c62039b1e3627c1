import type { SessionKey } from '@allium/core'
import { check } from '../check.ts'
import { type Random, seeded } from '../random.ts'
import { checkErased, type ErasureBench, erase, ScriptedRun } from './erasure-bench.ts'

const tenants = ['acme-canary', 'globex-canary']
const owners = ['ann-canary', 'bob-canary']
const rounds = 12

/**
 * Runs of several owners at the same time, with random delays between steps and erasures between them. The texts contain the owner and the
 * number of earlier erasures. No text with a lower number may remain once the erasure and all earlier runs have ended.
 */
export async function randomErasures(bench: ErasureBench): Promise<void> {
  const random = seeded(bench.seed)
  const erased = new Map<string, number>()
  const going = new Set<Promise<unknown>>()
  const nameOf = (tenant: string, owner: string) => `${tenant}/${owner}`
  const start = async (n: number) => {
    const [tenant, owner] = [random.pick(tenants), random.pick(owners)]
    const number = erased.get(nameOf(tenant, owner)) ?? 0
    const key: SessionKey = { tenant, owner, agent: 'agent', sessionId: `chat-${owner}-${random.below(2)}` }
    const run = new ScriptedRun(bench, key, `<${nameOf(tenant, owner)}#${number}> ${n}`)
    // A run that gets its lease after an erasure begins after it, also where it asked for the lease before.
    await run.steps.acquire?.().catch(() => {})
    const playing = randomly(run, random)
    going.add(playing)
    void playing.finally(() => going.delete(playing))
  }
  const eraseOne = async () => {
    const tenant = random.pick(tenants)
    const owner = random.below(2) === 0 ? undefined : random.pick(owners)
    await bench.wait(1)
    await erase(bench, owner === undefined ? { tenant } : { tenant, owner })
    await bench.wait(1)
    for (const one of owner === undefined ? owners : [owner])
      erased.set(nameOf(tenant, one), (erased.get(nameOf(tenant, one)) ?? 0) + 1)
  }

  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < 4; i++) await start(round * 4 + i)
    await settle(random.below(20))
    await eraseOne()
  }
  await Promise.all(going)
  const gone = [...erased].flatMap(([name, times]) => Array.from({ length: times }, (_, i) => `<${name}#${i}>`))
  check(gone.length >= rounds, 'Owners were erased')
  await checkErased(bench, gone, `Nothing comes back (seed ${bench.seed})`)
  for (const tenant of tenants) await erase(bench, { tenant })
  await checkErased(bench, ['canary'], `In the end nothing is left (seed ${bench.seed})`)
}

/** Plays a run that has its lease, with random delays between steps. A durable run and a schedule would begin after an erasure, so they are left out. */
async function randomly(run: ScriptedRun, random: Random): Promise<void> {
  const waits = Object.keys(run.steps).map(() => random.below(4))
  for (const [i, [name, step]] of Object.entries(run.steps).entries()) {
    if (i > 0) await settle(waits[i] ?? 0)
    if (name === 'acquire' || name === 'durable' || name === 'schedule') continue
    await step().catch(() => {})
  }
}

/** Waits for some turns of the event loop. */
async function settle(turns: number): Promise<void> {
  for (let i = 0; i < turns; i++) await new Promise((resolve) => setTimeout(resolve))
}
