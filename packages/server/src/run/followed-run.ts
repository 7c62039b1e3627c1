import type { SessionKey, Usage } from '@allium/core'
import { usageOf } from '@allium/core/internal'
import type { DurableRuns } from '../options/durable-runs.ts'
import { deferEntries, type EntryReader, type RunEntry } from './entry-reader.ts'
import { type Answer, Readers, type ReadersOptions, type RunHandle } from './run-handle.ts'

interface Options extends ReadersOptions {
  readonly runs: Pick<DurableRuns, 'following'>
  readonly principal: unknown
}

/** A run, and those that go on after its handoffs, as one run for its readers. */
export class FollowedRun implements RunHandle {
  readonly key: SessionKey
  readonly sessionId: string | undefined
  readonly idempotencyKey: string | undefined
  readonly started: Promise<unknown>
  readonly ended: Promise<void>
  readonly readers: Readers
  readonly #options: Options
  readonly #open: (turnId: string) => RunHandle
  /** By run: the run that follows it, once it has ended. */
  readonly #next = new Map<RunHandle, Promise<RunHandle | undefined>>()
  readonly #first: RunHandle
  #current: RunHandle

  /** @param open returns a run of the same session by its id */
  constructor(first: RunHandle, options: Options, open: (turnId: string) => RunHandle) {
    this.key = first.key
    this.sessionId = first.sessionId
    this.idempotencyKey = first.idempotencyKey
    this.started = first.started
    this.#options = options
    this.#open = open
    this.#first = first
    this.#current = first
    this.readers = new Readers(options, (reason) => this.stop(reason))
    this.readers.join()
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
  entries(signal: AbortSignal): EntryReader {
    let run = this.#first
    let reader = run.entries(signal)
    const usages: { usage: Usage }[] = []
    const next = async (): Promise<RunEntry | undefined> => {
      const entry = await reader.next()
      const { type, path, usage } = (entry?.event ?? {}) as { type?: string; path?: unknown; usage?: Usage }
      if (entry === undefined || path !== undefined) return entry
      if (type === 'turn:start' && usages.length > 0) return next()
      if (type !== 'turn:end') return entry
      if (usage !== undefined) usages.push({ usage })
      const following = await this.#following(run)
      if (following === undefined) return { ...entry, event: { ...entry.event, usage: usageOf(usages) } as never }
      run = following
      reader = run.entries(signal)
      return next()
    }
    return deferEntries(Promise.resolve({ next, take: () => undefined }))
  }

  async #all(): Promise<readonly RunHandle[]> {
    const all = [this.#first]
    for (let run = await this.#following(this.#first); run !== undefined; run = await this.#following(run))
      all.push(run)
    return all
  }

  #following(run: RunHandle): Promise<RunHandle | undefined> {
    const known = this.#next.get(run) ?? this.#find(run)
    this.#next.set(run, known)
    return known
  }

  async #find(run: RunHandle): Promise<RunHandle | undefined> {
    await run.ended
    const { runs, principal } = this.#options
    const turnId = await runs.following?.(run.turnId as string, { principal })
    run.readers.leave()
    if (turnId === undefined) return undefined
    this.#current = this.#open(turnId)
    this.#current.readers.join()
    return this.#current
  }
}
