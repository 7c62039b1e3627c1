import { type Clock, type SessionKey, sessionKeyOf } from '@allium/core'
import type { DurableRuns } from '../options/durable-runs.ts'
import type { ServedAgent } from '../options/options.ts'
import type { Metrics } from './metrics.ts'
import { RemoteRun } from './remote-run.ts'
import type { Answer, RunHandle } from './run-handle.ts'

interface ActiveRunsOptions {
  readonly clock: Clock
  readonly metrics: Metrics
  readonly durables: readonly DurableRuns[]
}

/** The active runs that this process started. */
export class ActiveRuns {
  readonly #options: ActiveRunsOptions
  /** The run of each session. */
  readonly #current = new Map<string, RunHandle>()
  /** All runs, also those that wait in a layer before their turn. */
  readonly #all = new Set<RunHandle>()
  /** Agents of the runs that hold a permit. */
  readonly #agents = new WeakMap<RunHandle, ServedAgent>()
  /**
   * Called when the process drains. Not an AbortController: workerd does not allow one while a module loads, nor one of another request.
   */
  readonly #closeListeners = new Set<() => void>()
  #closed = false

  constructor(options: ActiveRunsOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#all.size
  }

  /** Returns the active run of a session. */
  current(key: SessionKey): RunHandle | undefined {
    return this.#current.get(sessionKeyOf({ sessionKey: key }))
  }

  find(key: SessionKey, turnId: string): RunHandle | undefined {
    const run = this.current(key)
    return run?.turnId === turnId ? run : undefined
  }

  agentOf(run: RunHandle): ServedAgent | undefined {
    return this.#agents.get(run)
  }

  setAgent(run: RunHandle, agent: ServedAgent): void {
    this.#agents.set(run, agent)
  }

  track<R extends RunHandle>(run: R): R {
    const { metrics } = this.#options
    this.#all.add(run)
    const name = sessionKeyOf({ sessionKey: run.key })
    // A run that is rejected, for example because another one is active, never becomes the current one.
    run.started.then(
      () => this.#all.has(run) && this.#current.set(name, run),
      () => {},
    )
    const untrack = () => {
      this.#all.delete(run)
      if (this.#current.get(name) === run) this.#current.delete(name)
    }
    run.ended.then(untrack, untrack)
    statusOf(run).then(
      (status) => metrics.run(status),
      () => metrics.run('failed'),
    )
    return run
  }

  /** Stops the runs of a session that wait in a layer before their turn. */
  stopWaiting(key: SessionKey, reason: string): void {
    const name = sessionKeyOf({ sessionKey: key })
    for (const run of this.#all)
      if (sessionKeyOf({ sessionKey: run.key }) === name && this.#current.get(name) !== run) run.stop(reason)
  }

  /**
   * Calls `fn` when the process drains, so that readers of runs elsewhere reconnect to another process. Returns a function that
   * unsubscribes.
   */
  onClose(fn: () => void): () => void {
    if (this.#closed) fn()
    else this.#closeListeners.add(fn)
    return () => this.#closeListeners.delete(fn)
  }

  /** Waits until no run is active. */
  async idle(): Promise<void> {
    while (this.#all.size > 0) await Promise.allSettled([...this.#all].map(({ ended }) => ended))
  }

  /**
   * Waits for active runs. After `timeout`, aborts the rest: they are stored as interrupted, or continue elsewhere. @param timeout
   * milliseconds
   */
  async drain(timeout: number): Promise<void> {
    const { clock, durables } = this.#options
    const remoteRuns = () => [...this.#all].filter((run) => run instanceof RemoteRun)
    const durablesDrained = Promise.all(durables.map((durable) => durable.drain({ timeout }))).then(() => {
      for (const run of remoteRuns()) run.detach()
    })
    const disarm = clock.after(timeout, () => {
      for (const run of this.#all)
        if (run instanceof RemoteRun) run.detach()
        else run.stop('the server stops')
    })
    await Promise.allSettled([...this.#all].map(({ ended }) => ended))
    disarm()
    durablesDrained.catch(() => {})
    this.#closed = true
    for (const fn of this.#closeListeners) fn()
  }
}

/** Returns how a run ended. For a run that is read from the log, this reads no answer from the store. */
async function statusOf(run: RunHandle): Promise<Answer['status']> {
  return run instanceof RemoteRun ? run.status() : (await run.answer()).status
}
