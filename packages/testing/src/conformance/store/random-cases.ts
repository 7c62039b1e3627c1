import { isAlliumError, type Lease, type SessionKey, type StoredTurn } from '@allium/core'
import type { SessionStore, StoredSession } from '@allium/store'
import { check, checkEqual } from '../check.ts'
import { type Random, seeded } from '../random.ts'
import { runningTurn, type StoreBench, turnOf } from './bench.ts'

const tenants = 50
const ids = ['chat', 'Chat', 'x']
const steps = 40

/** Runs many tenants at once, each checked against a simple model. */
export async function randomTenants(bench: StoreBench, seed: number): Promise<void> {
  const actors = Array.from({ length: tenants }, (_, i) => new Actor(bench, `tenant-${i}`, seeded(seed + i)))
  await Promise.all(actors.map((actor) => actor.work()))
  for (const actor of actors) await actor.compare('When all have ended')
}

/** One tenant. It uses the same ids as all others, and runs one operation after the other. */
class Actor {
  readonly #model = new Map<string, StoredSession>()
  readonly #leases = new Map<string, Lease>()
  readonly #lost: Lease[] = []
  /** The last run of each session, as appended. */
  readonly #appended = new Map<string, Parameters<SessionStore['append']>>()
  readonly #acts = [
    this.#acquire,
    this.#checkpoint,
    this.#append,
    this.#append,
    this.#again,
    this.#release,
    this.#late,
    this.#delete,
  ]

  constructor(
    readonly bench: StoreBench,
    readonly tenant: string,
    readonly random: Random,
  ) {}

  async work(): Promise<void> {
    for (let step = 0; step < steps; step++) {
      const key = { tenant: this.tenant, owner: '', agent: 'agent', sessionId: this.random.pick(ids) }
      await this.random.pick(this.#acts).call(this, key, step)
      if (step % 5 === 0) await this.compare(`After ${step + 1} steps`)
    }
  }

  async compare(when: string): Promise<void> {
    for (const sessionId of ids) {
      const stored = await this.bench.other.load({ tenant: this.tenant, owner: '', agent: 'agent', sessionId })
      checkEqual(stored, this.#model.get(sessionId), `${when} ${this.tenant} loads its own data from "${sessionId}"`)
    }
  }

  async #acquire(key: SessionKey): Promise<void> {
    const { lease } = await this.bench.store.acquire(key, this.bench.lease * 1000)
    const free = !this.#leases.has(key.sessionId)
    check((lease !== undefined) === free, `${this.tenant} ${free ? 'takes' : 'does not take'} "${key.sessionId}"`)
    if (lease === undefined) return
    checkEqual(lease.version, this.#versionOf(key), 'A lease tells the number of stored turns')
    this.#leases.set(key.sessionId, lease)
  }

  async #checkpoint(key: SessionKey, step: number): Promise<void> {
    const lease = this.#leases.get(key.sessionId)
    if (lease === undefined) return
    const none: StoredSession = { version: 0, owner: key.owner, history: [], rest: { state: {} } }
    const session = this.#model.get(key.sessionId) ?? none
    const from = this.random.below(session.history.length + 1)
    const open = runningTurn(`${this.tenant} at ${step}`, from)
    await this.bench.store.checkpoint(lease, session.version, open)
    this.#model.set(key.sessionId, { ...session, open })
  }

  /** Appends the last run again under its lease. */
  async #again({ sessionId }: SessionKey): Promise<void> {
    const appended = this.#appended.get(sessionId)
    if (appended === undefined) return
    checkEqual(await this.#refusal(...appended), undefined, 'append() of the same run again')
  }

  async #append(key: SessionKey, step: number): Promise<void> {
    const lease = this.#leases.get(key.sessionId)
    if (lease === undefined) return
    const { version, history } = this.#model.get(key.sessionId) ?? { version: 0, history: [] }
    const wrong = this.random.below(5) === 0 ? 1 : 0
    const turn = this.#turn(step, this.random.below(history.length + 1))
    const refused = await this.#refusal(lease, version + wrong, turn)
    checkEqual(refused, wrong === 1 ? 'store.conflict' : undefined, `append() for version ${version + wrong}`)
    if (refused !== undefined) return
    const { from, messages, rest } = turn
    this.#appended.set(key.sessionId, [lease, version, turn])
    const after = [...history.slice(0, from), ...messages]
    this.#model.set(key.sessionId, { version: version + 1, owner: key.owner, history: after, rest })
  }

  async #release(key: SessionKey): Promise<void> {
    const lease = this.#leases.get(key.sessionId)
    if (lease === undefined) return
    await this.bench.store.release(lease)
    this.#leases.delete(key.sessionId)
    this.#lost.push(lease)
  }

  /** Appends with a released lease. */
  async #late(_: SessionKey, step: number): Promise<void> {
    const lease = this.#lost.at(-1)
    if (lease === undefined) return
    const refused = await this.#refusal(lease, this.#versionOf(lease.key), this.#turn(step, 0))
    checkEqual(refused, 'store.fenced', 'append() with a released lease')
  }

  async #delete(key: SessionKey): Promise<void> {
    if (this.#leases.has(key.sessionId)) return
    await this.bench.store.delete(key)
    this.#model.delete(key.sessionId)
    this.#appended.delete(key.sessionId)
  }

  async #refusal(...given: Parameters<SessionStore['append']>): Promise<string | undefined> {
    try {
      await this.bench.store.append(...given)
      return undefined
    } catch (error) {
      return isAlliumError(error) ? error.code : String(error)
    }
  }

  #versionOf({ sessionId }: SessionKey): number {
    return this.#model.get(sessionId)?.version ?? 0
  }

  #turn(step: number, from: number): StoredTurn {
    return turnOf(`${this.tenant} at ${step}`, from, { secret: this.tenant, step })
  }
}
