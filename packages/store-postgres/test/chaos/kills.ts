import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { redis } from '@allium/store-redis'
import type { Children } from './children.ts'
import { agentOn, type Job, type Label, labels, lease, type Opened, open, type Place, principal } from './scene.ts'

/** How many are at once, each on sessions of its own. */
const lanes = 6
/** Milliseconds after which a client gives up. */
const patience = 20_000

export interface Asked {
  readonly place: Place
  readonly count: number
  /** The number of the first, so that keys are fresh. */
  readonly from: number
  readonly children: Children
  /** Whether its server goes away meanwhile: a process may not come to its place then. */
  readonly isRestarted?: boolean
}

/** What came of it, beside what stands in the store. */
export class Kills {
  readonly acknowledged: string[] = []
  readonly problems: string[] = []
  readonly sessions = new Set<string>()
  /** Keys of which somebody was told that the server was gone. */
  readonly away = new Set<string>()
  kills = 0
  #missed = 0

  async run(asked: Asked): Promise<void> {
    let next = asked.from
    const before = this.#missed
    const lane = async (first: number) => {
      // One that never came to its place is made good.
      for (let i = first; next - asked.from < asked.count + this.#missed - before; i++) {
        const number = next++
        const session = `s${first}-${i % 3}`
        this.sessions.add(session)
        await this.#one({ ...asked, number, session })
      }
    }
    await Promise.all(Array.from({ length: lanes }, (_, first) => lane(first)))
  }

  async #one({ place, number, session, children, isRestarted = false }: Asked & One): Promise<void> {
    const label = labels[number % labels.length] as Label
    const signal = number % 10 === 9 && label !== 'migrate' ? 'SIGSTOP' : 'SIGKILL'
    const job: Job = { ...place, session, key: `k${number}`, label, signal, statement: 1 + (((number / 12) | 0) % 4) }
    const ended = label === 'migrate' ? this.#migrates(job, children) : this.#ended(job, children, isRestarted)
    if (await ended) this.acknowledged.push(job.key)
    if (await this.recovers(job)) this.acknowledged.push(job.key)
  }

  /** Runs a process until it is killed; a stopped one goes on after others have taken over. Whether it has acknowledged its turn. */
  async #ended(job: Job, children: Children, isRestarted: boolean): Promise<boolean> {
    const child = await children.take(job)
    let out = ''
    child.stdout?.on('data', (data) => (out += data))
    // Not `exit`: what it has said may come after that.
    const closed = once(child, 'close')
    let isHit = false
    if (job.signal === 'SIGSTOP') {
      while (child.exitCode === null && !isHit) {
        await sleep(20)
        isHit = isStopped(child.pid)
      }
      if (isHit) await sleep(lease * 1.5)
      if (isHit) await this.recovers({ ...job, key: `${job.key}-after`, label: undefined })
      child.kill('SIGCONT')
    }
    const [code, by] = await closed
    isHit ||= by === 'SIGKILL'
    // Where the server was away for a lease, that is told as the lease's end.
    if (isRestarted ? withoutServer.test(out) : out.includes('"failed":"store.unavailable"')) this.away.add(job.key)
    if (isHit) this.kills++
    else this.#missed++
    if (!isHit && !(isRestarted && withoutServer.test(out)))
      this.problems.push(`nobody came to "${job.label}" of ${job.key}, exit ${code ?? by}: ${out.trim()}`)
    return out.includes('"status":"completed"')
  }

  /** A store of its own, killed while it makes its tables; it is opened after that. */
  async #migrates(job: Job, children: Children): Promise<false> {
    const place = job.kind === 'sqlite' ? { at: `${job.at}.${job.key}` } : { schema: `chaos_${job.key}` }
    // Where it comes as far as to its tool, that is no second run in the store of all others.
    const own = { ...job, ...place, effects: `${job.effects}.own`, bills: `${job.bills}.own` }
    await this.#ended(own, children, false)
    const store = open(own)
    try {
      await store.sessions.list({ tenant: 'acme', limit: 1 })
    } catch (error) {
      this.problems.push(`a store that was killed while it was made does not open: ${error}`)
    }
    await store.close()
    return false
  }

  /** Asks again with the same key, as a client does, until it is told how that turn has ended. Whether it was acknowledged. */
  async recovers(given: Job): Promise<boolean> {
    const job = { ...given, label: given.label === 'approval used' ? given.label : undefined }
    const store = open(job)
    const limits = job.redis === undefined ? undefined : redis(job.redis)
    try {
      for (const end = Date.now() + patience; ; await sleep(50))
        try {
          const session = agentOn(store, job, { redis: limits }).session({ id: job.session, principal })
          return (await session.run(`Pay ${job.key}`, { idempotencyKey: job.key })).status === 'completed'
        } catch (error) {
          const { code = '' } = error as { code?: string }
          if (code === 'store.unavailable') this.away.add(job.key)
          if (code === 'run.interrupted' || (await hasFailed(store, job))) return false
          if (!again.includes(code) || Date.now() > end) {
            this.problems.push(`"${given.label}" of ${job.key} is not recovered from: ${error}`)
            return false
          }
        }
    } finally {
      limits?.close()
      await store.close()
    }
  }

  /** A turn more in each session: who takes it over settles what lost processes have held. */
  async takeOver(place: Place): Promise<void> {
    for (const session of this.sessions) {
      const job: Job = { ...place, session, key: `${session}-last`, label: undefined, signal: 'SIGKILL', statement: 0 }
      if (await this.recovers(job)) this.acknowledged.push(job.key)
      else this.problems.push(`nobody takes the session ${session} over`)
    }
  }
}

/** With these a client asks again. */
const again = ['session.busy', 'store.fenced', 'store.unavailable']

/** What a process may say whose server was away. */
const withoutServer = /"failed":"store\.(unavailable|fenced)"/

/** Its turn was stored as one that has failed for its server, which is how it ends. */
async function hasFailed({ sessions }: Opened, { session, key }: Job): Promise<boolean> {
  const place = { tenant: principal.tenantId, owner: principal.userId, agent: 'agent', sessionId: session }
  const turn = await sessions.find(place, { idempotencyKey: key }).catch(() => undefined)
  return turn?.status === 'failed' && turn.code === 'store.unavailable'
}

interface One {
  readonly number: number
  readonly session: string
}

export function isStopped(pid: number | undefined): boolean {
  try {
    return /\) T /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
