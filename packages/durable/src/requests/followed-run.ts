import type { Usage } from '@allium/core'
import { usageOf } from '@allium/core/internal'

/** An event of a run as a server reads it. */
interface Entry {
  readonly event: { readonly type: string; readonly path?: unknown; readonly usage?: Usage }
}

interface Reader {
  next(): Promise<Entry | undefined>
  take(): Entry | undefined
}

interface Answer {
  readonly usage: Usage
}

/** A run as a server has it. */
interface FollowableRun {
  readonly key: unknown
  readonly sessionId: unknown
  readonly idempotencyKey: unknown
  readonly turnId: string | undefined
  readonly started: Promise<unknown>
  readonly ended: Promise<void>
  readonly readers: { readonly count: number; join(): void; leave(): void }
  answer(): Promise<Answer>
  entries(signal: AbortSignal): Reader
  stop(reason: string): void
}

interface Options {
  /** Returns the id of the run that follows a run that has ended. */
  following(turnId: string): Promise<string | undefined>
  /** Returns a run of the same session by its id. */
  open(turnId: string): FollowableRun
}

/** A run, and those that continue after its handoffs, as one run for its readers. */
export class FollowedRun implements FollowableRun {
  readonly key: unknown
  readonly sessionId: unknown
  readonly idempotencyKey: unknown
  readonly started: Promise<unknown>
  readonly ended: Promise<void>
  readonly readers: FollowableRun['readers']
  readonly #options: Options
  /** By run: the run that follows it, once it has ended. */
  readonly #next = new Map<FollowableRun, Promise<FollowableRun | undefined>>()
  readonly #first: FollowableRun
  #current: FollowableRun

  constructor(first: FollowableRun, options: Options) {
    this.key = first.key
    this.sessionId = first.sessionId
    this.idempotencyKey = first.idempotencyKey
    this.started = first.started
    this.#options = options
    this.#first = first
    this.#current = first
    const current = () => this.#current.readers
    this.readers = {
      get count() {
        return current().count
      },
      join: () => current().join(),
      leave: () => current().leave(),
    }
    this.ended = this.#all().then(() => {})
    this.ended.catch(() => {})
  }

  get turnId(): string | undefined {
    return this.#current.turnId
  }

  stop(reason: string): void {
    this.#current.stop(reason)
  }

  /** Returns the answer of the last run, with the usage of all. */
  async answer(): Promise<Answer> {
    const answers: Answer[] = []
    for (const run of await this.#all()) answers.push(await run.answer())
    return { ...(answers.at(-1) as Answer), usage: usageOf(answers) }
  }

  /** Yields the events of all runs, with one `turn:start` and one `turn:end`. */
  entries(signal: AbortSignal): Reader {
    let run = this.#first
    let reader = run.entries(signal)
    const usages: { usage: Usage }[] = []
    const next = async (): Promise<Entry | undefined> => {
      const entry = await reader.next()
      if (entry === undefined) return undefined
      const { type, path, usage } = entry.event
      if (path !== undefined) return entry
      if (type === 'turn:start' && usages.length > 0) return next()
      if (type !== 'turn:end') return entry
      if (usage !== undefined) usages.push({ usage })
      const following = await this.#following(run)
      if (following === undefined) return { ...entry, event: { ...entry.event, usage: usageOf(usages) } }
      run = following
      reader = run.entries(signal)
      return next()
    }
    return { next, take: () => undefined }
  }

  async #all(): Promise<readonly FollowableRun[]> {
    const all = [this.#first]
    for (let run = await this.#following(this.#first); run !== undefined; run = await this.#following(run))
      all.push(run)
    return all
  }

  #following(run: FollowableRun): Promise<FollowableRun | undefined> {
    const known = this.#next.get(run) ?? this.#find(run)
    this.#next.set(run, known)
    return known
  }

  async #find(run: FollowableRun): Promise<FollowableRun | undefined> {
    await run.ended
    const turnId = await this.#options.following(run.turnId as string)
    if (turnId === undefined) return undefined
    const following = this.#options.open(turnId)
    // Its readers read this one, too.
    for (let count = run.readers.count; count > 0; count--) following.readers.join()
    this.#current = following
    return following
  }
}
