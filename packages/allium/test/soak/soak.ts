import { setTimeout as later } from 'node:timers/promises'
import type { Usable } from '@allium/core'
import { Agent } from '../../src/index.ts'
import { manualClock } from '../../src/testing.ts'
import { answering, longTurn, look, soakTurn } from './turns.ts'

export interface Soaked {
  /** Bytes of heap that each turn of the last half has left, after a forced collection. */
  perTurn: number
  /** Sessions that are still in memory, a while after their last run. */
  alive: number
  turns: number
  /** Milliseconds. */
  took: number
}

/** Runs turns over a stack of layers, and beside them `long` turns of one session. */
export async function soak(layers: readonly Usable[], turns: number, long: number): Promise<Soaked> {
  const clock = manualClock()
  const silent = { warn() {}, error() {} }
  const agent = new Agent({ model: answering, tools: [look], clock, logger: silent }).use(layers)
  const held: WeakRef<object>[] = []
  const started = performance.now()
  const heaps: number[] = []
  const every = Math.max(1, Math.floor(turns / Math.max(1, long)))
  const talk = agent.session({ id: 'long', principal: { tenantId: 'acme', userId: 'bob' } })
  for (let n = 0; n < turns; n++) {
    await soakTurn(agent, n, (session) => held.push(new WeakRef(session)))
    if (long > 0 && n % every === 0) await longTurn(talk, n)
    if (n % 100 === 99) await clock.advance(900_000)
    if (n === Math.floor(turns / 2) || n === turns - 1) heaps.push(await heapAfterAWhile(clock))
    if (n % 1000 === 999) forget(held)
  }
  const alive = held.filter((session) => session.deref() !== undefined).length
  const [middle = 0, end = 0] = heaps
  await agent.dispose({ timeout: 0 })
  return { perTurn: (end - middle) / (turns / 2), alive, turns, took: performance.now() - started }
}

async function heapAfterAWhile(clock: { advance(ms: number): Promise<void> }): Promise<number> {
  await clock.advance(1_000_000)
  for (let i = 0; i < 3; i++) {
    await later(5)
    globalThis.gc?.()
  }
  return process.memoryUsage().heapUsed
}

function forget(held: WeakRef<object>[]): void {
  const living = held.filter((session) => session.deref() !== undefined)
  held.splice(0, held.length, ...living)
}
