import type { ClaimedRun, RunStore } from '@allium/store'
import { check, checkEqual } from '../check.ts'
import { type Random, seeded } from '../random.ts'
import { chat, turnOf } from '../store/bench.ts'
import { agents, type RunBench, type RunCases, runOf } from './run-bench.ts'

const queue = 'emails'
const tenants = ['acme', 'globex', 'initech']
const limits = { concurrency: 4, perTenant: 2 }

interface RandomWorker {
  readonly store: RunStore
  live: ClaimedRun[]
}

/** A case with random arrivals, claims, ends and crashes in several workers. */
export const randomQueueCases: RunCases = {
  async 'never exceeds the limits of a queue, and runs every run, whatever arrives, ends or crashes'(bench) {
    for (const seed of [1, 2, 3]) await new RandomQueue(bench, seed).play()
  },
}

class RandomQueue {
  readonly #bench: RunBench
  readonly #random: Random
  readonly #seed: number
  readonly #workers: RandomWorker[]
  #added = 0
  #ended = 0

  constructor(bench: RunBench, seed: number) {
    this.#bench = bench
    this.#seed = seed
    this.#random = seeded(seed)
    const stores = [bench.runs, bench.other.runs]
    this.#workers = Array.from({ length: 2 + this.#random.below(3) }, (_, i) => ({
      store: stores[i % 2] ?? bench.runs,
      live: [],
    }))
  }

  async play(): Promise<void> {
    for (let i = 0; i < 30; i++) {
      const actions = [() => this.#add(), () => this.#add(), () => this.#claim(), () => this.#end()]
      await Promise.all(Array.from({ length: 3 }, () => this.#random.pick(actions)()))
      if (i % 15 === 10) await this.#crash()
      await this.#checkLimits()
    }
    await this.#finish()
  }

  async #add(): Promise<void> {
    const run = `${this.#seed}-${this.#added++}`
    const key = { ...chat, tenant: this.#random.pick(tenants), sessionId: `${this.#seed}-${this.#random.below(20)}` }
    const worker = this.#random.pick(this.#workers)
    const newRun = runOf(run, key, { queue, priority: this.#random.below(5) - 2 })
    const claim = this.#random.below(2) === 0 ? {} : { claim: this.#bench.lease * 20, limits }
    const added = await worker.store.add(newRun, claim)
    if (added.lease !== undefined) worker.live.push({ run: added.run, lease: added.lease })
  }

  async #claim(worker = this.#random.pick(this.#workers)): Promise<void> {
    const query = { agents, limit: 1 + this.#random.below(4), ms: this.#bench.lease * 20, alone: true }
    worker.live.push(...(await worker.store.claim({ ...query, queues: [{ name: queue, ...limits }] })))
  }

  async #end(worker = this.#random.pick(this.#workers)): Promise<void> {
    const one = worker.live.shift()
    if (one === undefined) return
    const { run, lease } = one
    if (run.status === 'running')
      await this.#bench.sessions.append(lease, lease.version, endOf(run.run, lease.version), { release: true })
    await worker.store.markReported(lease, run.run)
    this.#ended++
  }

  /** Loses a worker, and waits until its leases have expired. */
  async #crash(): Promise<void> {
    const worker = this.#random.pick(this.#workers)
    const leases = worker.live.map(({ lease }) => lease)
    worker.live = []
    await worker.store.renew(leases, 1)
    await this.#bench.wait(10)
  }

  async #checkLimits(): Promise<void> {
    const { runs } = this.#bench
    const counts = tenants.map(
      async (tenant) => (await runs.list({ tenant, status: 'running', limit: 100 })).items.length,
    )
    const running = await Promise.all(counts)
    const total = running.reduce((sum, count) => sum + count, 0)
    check(
      total <= limits.concurrency,
      `Seed ${this.#seed}: ${total} runs are running, which is above the limit of the queue`,
    )
    const most = Math.max(...running)
    check(most <= limits.perTenant, `Seed ${this.#seed}: a tenant runs ${most}, which is above its limit`)
  }

  /** Every run ends within as many rounds as there are runs. */
  async #finish(): Promise<void> {
    for (let i = 0; i < this.#added && this.#ended < this.#added; i++) {
      for (const worker of this.#workers) {
        await this.#claim(worker)
        await this.#checkLimits()
        while (worker.live.length > 0) await this.#end(worker)
      }
    }
    checkEqual(this.#ended, this.#added, `Seed ${this.#seed}: every run has ended once`)
  }
}

function endOf(turnId: string, version: number) {
  return { ...turnOf(turnId, version * 2), turnId }
}
