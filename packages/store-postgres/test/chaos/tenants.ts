import type { Lease, SessionKey, StoredTurn } from '@allium/core'
import type { open } from './scene.ts'

type Store = ReturnType<typeof open>

const tenants = 50
const sessions = ['chat', 'Chat', 'x']

/** Tenants that use the same owner and the same ids do random things at once. What one of them is given that is not its own, as sentences. */
export async function foreignReads(store: Store, { operations, seed }: { operations: number; seed: number }) {
  const problems = new Set<string>()
  const all = Array.from({ length: tenants }, (_, i) => new Tenant(store, i, randomly(seed * 1000 + i), problems))
  await Promise.all(all.map((one) => one.work(operations)))
  return { problems: [...problems].slice(0, 20), done: all.reduce((sum, { done }) => sum + done, 0) }
}

class Tenant {
  /** Operations of the store. */
  done = 0
  /** Its acts are numbered: what they store is named by that. */
  #act = 0
  /** How many turns each session has. */
  readonly #turns = new Map<string, number>()
  #spent = 0
  /** What it does, with how many operations that is. */
  readonly #acts = [
    [this.#append, 2],
    [this.#append, 2],
    [this.#load, 1],
    [this.#load, 1],
    [this.#load, 1],
    [this.#find, 2],
    [this.#find, 2],
    [this.#list, 1],
    [this.#waiting, 2],
    [this.#vault, 2],
    [this.#events, 4],
    [this.#spend, 4],
    [this.#intrude, 5],
    [this.#forget, 1],
  ] as const

  constructor(
    readonly store: Store,
    readonly number: number,
    readonly below: (n: number) => number,
    readonly problems: Set<string>,
  ) {}

  get name(): string {
    return `tenant-${this.number}`
  }

  async work(operations: number): Promise<void> {
    for (; this.done < operations; this.#act++) {
      const [act, size] = this.#acts[this.below(this.#acts.length)] ?? this.#acts[0]
      await act.call(this).catch((error: unknown) => this.problems.add(`${this.name} could not ${act.name}: ${error}`))
      this.done += size
    }
  }

  #key(tenant = this.name): SessionKey {
    return { tenant, owner: 'ann', agent: 'agent', sessionId: sessions[this.below(sessions.length)] as string }
  }
  /** The name of another tenant. */
  #other(): string {
    return `tenant-${(this.number + 1 + this.below(tenants - 1)) % tenants}`
  }

  /** What is given holds the name of who it is for in each place, and no other. */
  #owns(what: string, given: unknown): void {
    const names = new Set(JSON.stringify(given ?? '').match(/tenant-\d+/g) ?? [])
    names.delete(this.name)
    if (names.size > 0) this.problems.add(`${what} gave ${this.name} what ${[...names].join(' and ')} has`)
  }

  async #append(): Promise<void> {
    const key = this.#key()
    const { lease } = await this.store.sessions.acquire(key, 60_000)
    if (lease === undefined) throw new Error('somebody else has its session')
    const count = this.#turns.get(key.sessionId) ?? 0
    if (lease.version !== count) this.problems.add(`${this.name} has ${lease.version} turns in place of ${count}`)
    await this.store.sessions.append(lease, count, this.#turn(count), { release: true })
    this.#turns.set(key.sessionId, count + 1)
  }

  #turn(from: number): StoredTurn {
    const turnId = `${this.name}:${this.#act}`
    const text = `of ${this.name}`
    return {
      turnId,
      rootId: turnId,
      agent: 'agent',
      status: 'completed',
      startedAt: 1,
      endedAt: 2,
      usage: { inputTokens: 1, outputTokens: 1, calls: 1 },
      answer: text,
      idempotencyKey: `key-${this.#act}`,
      records: [],
      from,
      messages: [{ role: 'user', content: text }],
      rest: { state: { text } },
    }
  }

  async #load(): Promise<void> {
    const key = this.#key()
    const stored = await this.store.sessions.load(key)
    this.#owns('load()', stored)
    const count = this.#turns.get(key.sessionId) ?? 0
    if ((stored?.version ?? 0) !== count)
      this.problems.add(`load() gave ${this.name} ${stored?.version} turns in place of ${count}`)
  }

  /** All tenants have the same keys, and each may have seen an id of another. */
  async #find(): Promise<void> {
    const number = this.below(this.#act + 1)
    this.#owns('find()', await this.store.sessions.find(this.#key(), { idempotencyKey: `key-${number}` }))
    this.#owns('find()', await this.store.sessions.find(this.#key(), { turnId: `${this.#other()}:${number}` }))
  }

  async #list(): Promise<void> {
    const page = await this.store.sessions.list({ tenant: this.name, owner: 'ann', limit: 10 })
    this.#owns('list()', page.items)
    const known = [...this.#turns.values()].filter((count) => count > 0).length
    if (page.items.length !== known)
      this.problems.add(`list() gave ${this.name} ${page.items.length} sessions in place of ${known}`)
  }

  async #waiting(): Promise<void> {
    this.#owns('waiting()', await this.store.sessions.pendingCalls({ tenant: this.name, limit: 10 }))
    this.#owns(
      'findPendingCall()',
      await this.store.sessions.findPendingCall({ tenant: this.name, token: this.#other() }),
    )
  }

  async #vault(): Promise<void> {
    const key = `guard:pii:${JSON.stringify([this.name, 'ann', this.#key().agent, this.#key().sessionId])}`
    await this.store.vault.save(key, { '[NAME_1]': this.name })
    this.#owns('vault.load()', await this.store.vault.load(key))
  }

  async #events(): Promise<void> {
    const run = { key: this.#key(), turnId: `run-${this.#act}` }
    await this.store.events.append(run, 1, [`of ${this.name}`], { end: true })
    for await (const event of this.store.events.read(run, 0)) this.#owns('events.read()', event)
    const foreign = this.store.events.read({ ...run, key: this.#key(this.#other()), turnId: `run-${this.#act}` }, 0)
    await foreign.return?.()
    this.#owns('events.latest()', await this.store.events.latest(this.#key()))
  }

  async #spend(): Promise<void> {
    const place = { id: `${this.#act}`, account: this.name }
    const held = await this.store.ledger.reserve({ ...place, amount: 3, limit: 1e9, run: `run of ${this.name}` })
    this.#owns('holds()', await this.store.ledger.holds?.(`run of ${this.name}`))
    if (held !== undefined) await this.store.ledger.settle(held, 2)
    this.#spent += 2
    const { spent, reserved } = await this.store.ledger.balance(this.name)
    if (spent !== this.#spent || reserved !== 0)
      this.problems.add(`${this.name} has spent ${spent} and holds ${reserved}, in place of ${this.#spent} and 0`)
  }

  /** A lease of its own opens no session of another. */
  async #intrude(): Promise<void> {
    const key = this.#key()
    const { lease } = await this.store.sessions.acquire(key, 60_000)
    if (lease === undefined) throw new Error('somebody else has its session')
    const foreign: Lease = { ...lease, key: { ...key, tenant: this.#other() } }
    const turn = this.#turn(0)
    const wasTaken = await this.store.sessions.append(foreign, lease.version, turn).then(
      () => true,
      () => false,
    )
    if (wasTaken) this.problems.add(`${this.name} has written to ${foreign.key.tenant}`)
    if (await this.store.sessions.renew(foreign, 60_000)) this.problems.add(`${this.name} has a lease of another`)
    await this.store.sessions.release(foreign)
    await this.store.sessions.release(lease)
  }

  /** Often one session, now and then all. */
  async #forget(): Promise<void> {
    const key = this.#key()
    if (this.below(10) > 0) {
      await this.store.sessions.delete(key)
      this.#turns.delete(key.sessionId)
      return
    }
    await this.store.sessions.erase({ tenant: this.name })
    this.#turns.clear()
  }
}

/** Numbers that are the same for the same seed (mulberry32). */
function randomly(seed: number): (n: number) => number {
  let state = seed >>> 0
  return (n) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * n)
  }
}
