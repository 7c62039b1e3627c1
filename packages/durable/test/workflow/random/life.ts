import type { Clock, Lease } from '@allium/core'
import type { RunStore } from '@allium/store'
import { type SqliteStore, sqlite } from '@allium/store-sqlite'
import { type ManualClock, manualClock } from '@allium/testing'
import { type Durable, durable } from '../../../src/index.ts'
import { logger, principal } from '../world.ts'
import { type Effects, workflowOf } from './code.ts'
import { changed, type Kill, type Plan, type WorkflowCase } from './plans.ts'

/** The end of a case, and what went wrong in it. */
interface Lived {
  readonly status: string
  readonly wrong: readonly string[]
  readonly kills: number
  readonly stops: number
  readonly result: readonly string[]
}

const lease = 1000
type Info = Awaited<ReturnType<Durable['get']>>

/** A process. After its death nothing that it began ends, and its clock stands still. */
interface Process {
  readonly runs: Durable
  readonly plan: Plan
  readonly died: { lease: Lease | undefined }
}

/** Plays a case until its run has ended. */
export class Life implements Effects {
  readonly #clock: ManualClock = manualClock()
  readonly #store: SqliteStore = sqlite(':memory:', { clock: this.#clock })
  readonly #of: WorkflowCase
  readonly #recorded = new Set<string>()
  readonly #happened = new Map<string, string>()
  readonly #wrong: string[] = []
  readonly #kills: Kill[]
  #started = 0
  #stops = 0
  #mayDeploy = true

  constructor(of: WorkflowCase) {
    this.#of = of
    this.#kills = [...of.kills]
  }

  async play(): Promise<Lived> {
    let process = this.#process()
    const { run: first, sessionId } = await process.runs.start({ principal, input: 'null' })
    let run = first
    for (let round = 0; ; round++) {
      if (round > 100) throw new Error('The run does not end.')
      const info = await this.#end(process, run)
      if (info === undefined) process = await this.#takeOver(process)
      else if (info.status === 'suspended') {
        if (this.#of.deploysWhileWaiting) process = await this.#deploy(process)
        run = await this.#decide(process, sessionId, info)
      } else if (info.code === 'journal.diverged') process = await this.#putBack(process, run, info)
      else return this.#judge(process, info)
    }
  }

  effect(key: string, id: string): unknown {
    if (this.#recorded.has(key)) this.#wrong.push(`${key} ran twice`)
    this.#happened.set(key, id)
    return undefined
  }

  #process(): Process {
    const isOther = this.#mayDeploy && this.#started++ >= this.#of.deploy
    const plan = isOther ? changed(this.#of) : this.#of.plan
    const died: Process['died'] = { lease: undefined }
    const isDead = () => died.lease !== undefined
    const forever = () => new Promise<never>(() => {})
    const kill = this.#kills.shift()
    const clock = mortal(this.#clock, isDead)
    const effect = (key: string, id: string) => (isDead() ? forever() : this.effect(key, id))
    const version = isOther && !this.#of.sameVersion ? '2' : '1'
    const store = { ...this.#store, runs: this.#watched(kill, died) }
    const accepts = version === '2' ? ['1'] : ['2']
    const code = workflowOf({ plan, version, store: this.#store, clock, effect })
    return { runs: durable(code, { store, lease, clock, logger, accepts, attempts: 50 }), plan, died }
  }

  /** Notes what is recorded. Kills the process at its time. */
  #watched(kill: Kill | undefined, died: Process['died']): RunStore {
    const { runs } = this.#store
    let count = 0
    const record: RunStore['record'] = async (by, run, step) => {
      if (died.lease !== undefined) return new Promise(() => {})
      const dies = kill !== undefined && count++ >= kill.after
      if (dies) died.lease = by
      if (!dies || kill.written) {
        for (const [key, id] of this.#happened) if (step.id.endsWith(id)) this.#recorded.add(key)
        await runs.record(by, run, step)
      }
      return dies ? new Promise(() => {}) : undefined
    }
    return Object.assign(Object.create(runs) as RunStore, { record })
  }

  /** Waits for the end of the run; undefined if its process dies before. */
  async #end({ runs, died }: Process, run: string): Promise<Info | undefined> {
    for (let look = 1; died.lease === undefined; look++) {
      const info = await runs.get(run, { principal })
      if (info.status !== 'running' && info.status !== 'queued') return info
      await new Promise((resolve) => setImmediate(resolve))
      if (look > 30) await this.#clock.advance(lease / 10)
      if (look > 3000) throw new Error(`The run "${run}" is still ${info.status}.`)
    }
    return undefined
  }

  async #takeOver({ died }: Process): Promise<Process> {
    // What the lost process did not record runs again, and other code may give its id to another attempt.
    for (const key of this.#happened.keys()) if (!this.#recorded.has(key)) this.#happened.delete(key)
    await this.#store.runs.renew([died.lease as Lease], 1)
    await this.#clock.advance(10)
    const next = this.#process()
    await next.runs.recover()
    return next
  }

  /** The process of a suspended run ends, and one of the other build begins. */
  async #deploy({ runs }: Process): Promise<Process> {
    await runs.drain({ timeout: 0 })
    this.#started = Math.max(this.#started, this.#of.deploy)
    return this.#process()
  }

  async #decide({ runs }: Process, sessionId: string, { pending = [] }: Info): Promise<string> {
    const { oneByOne, denies } = this.#of
    const decided = oneByOne ? pending.slice(0, 1) : pending
    const decisions = Object.fromEntries(
      decided.map(({ callId, name }) => [callId, denies && name === 'approval' ? { deny: 'No.' } : { approve: true }]),
    )
    return (await runs.start({ principal, sessionId, decisions: decisions as never })).run
  }

  /** The code does not fit the run: the former build continues it. */
  async #putBack({ runs, plan }: Process, run: string, { reason }: Info): Promise<Process> {
    if (plan === this.#of.plan) this.#wrong.push(`the same code was stopped: ${reason}`)
    if (this.#stops++ > 0) throw new Error('It was stopped again.')
    await runs.drain({ timeout: 0 })
    this.#mayDeploy = false
    const former = this.#process()
    if (!(await former.runs.retry(run, { principal }))) this.#wrong.push('the former build cannot continue the run')
    await former.runs.recover()
    return former
  }

  async #judge({ runs }: Process, info: Info): Promise<Lived> {
    await runs.drain({ timeout: 0 })
    this.#store.close()
    const { status, text = '[]', code, reason } = info
    if (status !== 'completed') this.#wrong.push(`the run is ${status}: ${code} ${reason}`)
    const result = status === 'completed' ? (JSON.parse(text) as string[]) : []
    for (const key of this.#recorded) if (!result.includes(key)) this.#wrong.push(`${key} is hidden`)
    for (const key of result) if (!this.#happened.has(key)) this.#wrong.push(`${key} never happened`)
    if (new Set(result).size !== result.length) this.#wrong.push(`one result for two steps: ${result}`)
    return { status, wrong: this.#wrong, kills: this.#of.kills.length - this.#kills.length, stops: this.#stops, result }
  }
}

function mortal(clock: Clock, isDead: () => boolean): Clock {
  return { ...clock, after: (ms, fn) => clock.after(ms, () => (isDead() ? undefined : fn())) }
}
