import type { Erasure, Lease, SessionKey, Writer } from '@allium/core'
import type {
  EventLog,
  FeedbackStore,
  KeyValue,
  Ledger,
  RecordingStore,
  RunStore,
  ScheduleStore,
  SessionStore,
} from '@allium/store'
import { check } from '../check.ts'
import { agents } from '../runs/run-bench.ts'
import { limits, runFor, scheduleOf } from '../schedules/schedule-bench.ts'
import { storedTurn, suspendedTurn } from '../store/bench.ts'
import type { Vault } from '../vault/vault-cases.ts'

/** All parts of a store; missing parts are not tested. */
export interface ErasureParts {
  readonly sessions?: SessionStore | undefined
  readonly events?: EventLog | undefined
  readonly keyValue?: KeyValue | undefined
  readonly vault?: Vault | undefined
  readonly recordings?: RecordingStore | undefined
  readonly feedback?: FeedbackStore | undefined
  readonly ledger?: Ledger | undefined
  readonly runs?: RunStore | undefined
  readonly schedules?: ScheduleStore | undefined
  usage?(of: { tenant: string }): Promise<readonly { usage: { inputTokens: number } }[]>
  /** Erases data of a store without sessions. @default `sessions.erase` */
  erase?(of: Erasure): Promise<unknown>
}

/** The test bench of a case. */
export interface ErasureBench {
  readonly store: ErasureParts
  /** The duration of a lease, in milliseconds. */
  readonly lease: number
  readonly seed: number
  /** The current time in milliseconds since the epoch, as a run of the case sees it. */
  now(): number
  /** Lets time pass. */
  wait(ms: number): Promise<void>
  /** Returns everything that the store contains, as text; undefined if that is not possible. */
  contents(): Promise<string | undefined>
}

export async function erase({ store }: ErasureBench, of: Erasure): Promise<void> {
  if (store.erase !== undefined) await store.erase(of)
  else await store.sessions?.erase(of)
}

/** Fails if the store still contains one of the texts. */
export async function checkErased(bench: ErasureBench, texts: readonly string[], claim: string): Promise<void> {
  const contents = await bench.contents()
  const remaining = texts.filter((text) => contents?.includes(text) === true)
  check(remaining.length === 0, `${claim}, but the store still holds ${remaining.join(', ')}`)
}

/** One run, whose text occurs in everything that a store keeps of it. */
export class ScriptedRun {
  readonly key: SessionKey
  readonly text: string
  readonly #bench: ErasureBench
  readonly #since: number
  #lease: Lease | undefined
  /** Numbers the images of a run, so that each one differs. */
  #images = 1

  constructor(bench: ErasureBench, key: SessionKey, text: string) {
    this.#bench = bench
    this.key = key
    this.text = text
    this.#since = bench.now()
  }

  get by(): Writer {
    const { tenant, owner } = this.key
    return { tenant, owner, since: this.#since, ...(this.#lease !== undefined && { lease: this.#lease }) }
  }
  get #run() {
    return { key: this.key, turnId: `turn ${this.text}` }
  }
  get #account() {
    return JSON.stringify(['budget', this.key.tenant, this.key.owner])
  }
  get #hold() {
    return { id: `${this.text}:0`, account: this.#account, amount: 2 }
  }

  /** The steps of the run in order. A rejected step has ended; the steps after it are tried anyway. */
  get steps(): Readonly<Record<string, () => Promise<unknown>>> {
    const { sessions, events, keyValue, vault, recordings, feedback, ledger, runs, schedules } = this.#bench.store
    const { tenant, owner, agent, sessionId } = this.key
    const { lease: ms } = this.#bench
    return {
      acquire: async () => {
        this.#lease = (await sessions?.acquire(this.key, ms * 1000))?.lease
      },
      open: async () => events?.append(this.#run, 1, [], { by: this.by }),
      tell: async () => events?.append(this.#run, 1, [this.#said], { mustExist: true }),
      signal: async () => events?.signal(this.#run, { steer: this.text, id: this.text }),
      reserve: async () =>
        ledger?.reserve({ ...this.#hold, limit: 1000, ttl: ms * 1000, run: `run ${this.text}`, by: this.by }),
      checkpoint: async () =>
        this.#lease && sessions?.checkpoint(this.#lease, this.#lease.version, { ...this.#turn(0), status: 'running' }),
      placeholders: async () =>
        vault?.save(`pii:${JSON.stringify([tenant, owner, agent, sessionId])}`, { '[A_1]': this.text }, this.by),
      cache: async () => keyValue?.set(`cache:${sessionId}:${this.text.length}`, this.text, ms * 1000, this.by),
      recording: async () =>
        recordings?.add({ ...this.#run, startedAt: 0, expiresAt: 9e12, content: this.text }, this.by),
      feedback: async () => feedback?.put({ run: this.#run, by: owner, score: 0, comment: this.text, at: 0 }, this.by),
      settle: async () => ledger?.settle(this.#hold, 1),
      append: async () => {
        if (this.#lease === undefined) return
        const { length = 0 } = (await sessions?.load(this.key))?.history ?? {}
        await sessions?.append(this.#lease, this.#lease.version, this.#turn(length), { release: true })
      },
      end: async () => events?.append(this.#run, 1, [this.#said], { end: true, mustExist: true }),
      durable: async () => this.#durable(runs),
      schedule: async () => this.#schedule(schedules),
    }
  }

  /** A text, and an image that a store may keep separately. */
  get #said() {
    return { text: this.text, image: imageOf(this.text, this.#images++) }
  }

  #turn(from: number) {
    const { text } = this
    const { rest } = suspendedTurn(text, { [`call ${text}`]: { token: text } }, from)
    return storedTurn({
      ...{ turnId: `turn ${text}`, answer: text, from, rest: { ...rest, state: { text } }, endedAt: 86_400_000 },
      messages: [{ role: 'user', content: [{ type: 'file', data: imageOf(text, 0), mediaType: 'text/plain' }] }],
      records: [{ id: `record ${text}`, topic: 'said', data: this.#said, at: 1 }],
      usage: { inputTokens: 1, outputTokens: 0, calls: 1 },
    })
  }

  /** Stores a schedule, and the run of its tick. */
  async #schedule(schedules: ScheduleStore | undefined): Promise<void> {
    const { tenant, owner } = this.key
    const content = { request: this.#said, sessionId: this.key.sessionId }
    const stored = await schedules?.put(scheduleOf(`schedule ${this.text}`, 0, { tenant, owner, ...content }), limits)
    const key = { ...this.key, sessionId: `${this.key.sessionId} scheduled` }
    const run = { ...runFor(`scheduled ${this.text}`), key, task: this.#said }
    if (stored !== undefined) await schedules?.advance(stored, { nextAt: 1, tick: 0, run })
  }

  /** Runs a durable run with a step in a separate session. */
  async #durable(runs: RunStore | undefined): Promise<void> {
    const key = { ...this.key, sessionId: `${this.key.sessionId} durable` }
    const run = `durable ${this.text}`
    const added = await runs?.add(
      { run, key, agent: agents[0].name, version: agents[0].version, task: this.#said },
      { claim: this.#bench.lease * 1000 },
    )
    if (added?.lease === undefined) return
    await runs?.record(added.lease, run, { id: 'step', body: this.#said })
    await runs?.giveUp(added.lease, run, { status: 'failed', code: 'run.failed', reason: this.text })
  }
}

/** Returns bytes in which the text can be found. */
function imageOf(text: string, n: number): Uint8Array {
  return new TextEncoder().encode(`${n} ${text} `.repeat(5000 / text.length + 1))
}

/** Steps that would start again after an erasure, as new data. */
export const startingSteps: ReadonlySet<string> = new Set(['acquire', 'durable', 'schedule'])

/** Runs all steps. Returns the error codes of rejected steps. */
export async function play(run: ScriptedRun, only: readonly string[] = Object.keys(run.steps)): Promise<string[]> {
  const refused: string[] = []
  for (const name of only)
    await run.steps[name]?.().catch((error: { code?: string }) =>
      refused.push(`${name}: ${error.code ?? String(error)}`),
    )
  return refused
}
