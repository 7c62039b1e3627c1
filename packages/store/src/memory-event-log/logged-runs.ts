import type { Clock, SessionKey } from '@allium/core'
import { runNotOpened } from '../conflicts.ts'
import type { EventScope, RunKey } from '../event-log.ts'
import { LoggedRun } from './logged-run.ts'

/** The runs of an event log, until some time after their end. */
export class LoggedRuns {
  readonly #clock: Clock
  readonly #ttl: number
  readonly #runs = new Map<string, LoggedRun>()
  /** Runs by the key object of their writer, which is faster to look up than their names. */
  readonly #opened = new WeakMap<RunKey, LoggedRun>()
  /** The most recently opened run of each session. */
  readonly #latest = new Map<string, LoggedRun>()
  /** The end time of each ended run, oldest first. */
  readonly #ends = new Map<LoggedRun, number>()

  /** @param ttl how long a run is kept after its end, in milliseconds */
  constructor(clock: Clock, ttl: number) {
    this.#clock = clock
    this.#ttl = ttl
  }

  find(run: RunKey): LoggedRun | undefined {
    this.#removeExpired()
    const logged = this.#opened.get(run)
    const isSame = logged?.removed === false && logged.run.turnId === run.turnId && isIn(logged.run.key, run.key)
    return isSame ? logged : this.#runs.get(nameOf(run))
  }

  /** @throws AlliumError `store.fenced` if there is no such run */
  get(run: RunKey): LoggedRun {
    const logged = this.find(run)
    if (logged === undefined) throw runNotOpened(run)
    return logged
  }

  latest(key: SessionKey): LoggedRun | undefined {
    this.#removeExpired()
    return this.#latest.get(sessionOf(key))
  }

  open(run: RunKey): LoggedRun {
    const logged = new LoggedRun({ key: { ...run.key }, turnId: run.turnId })
    this.#opened.set(run, logged)
    this.#runs.set(nameOf(run), logged)
    this.#latest.set(sessionOf(run.key), logged)
    return logged
  }

  /** Begins to count the time of a run that has ended, and stops for one that continues. */
  appended(logged: LoggedRun): void {
    this.#ends.delete(logged)
    if (logged.ended) this.#ends.set(logged, this.#clock.monotonic())
  }

  delete(scope: EventScope): void {
    for (const logged of [...this.#runs.values()])
      if (isIn(scope, logged.run.key)) {
        this.#remove(logged)
        logged.delete()
      }
  }

  #removeExpired(): void {
    for (const [logged, at] of this.#ends) {
      if (this.#clock.monotonic() - at < this.#ttl) return
      this.#remove(logged)
    }
  }

  #remove(logged: LoggedRun): void {
    logged.removed = true
    this.#ends.delete(logged)
    this.#runs.delete(nameOf(logged.run))
    const session = sessionOf(logged.run.key)
    if (this.#latest.get(session) === logged) this.#latest.delete(session)
  }
}

function isIn(scope: EventScope, { tenant, owner, agent, sessionId }: SessionKey): boolean {
  if (scope.tenant !== tenant || (scope.owner !== undefined && scope.owner !== owner)) return false
  return !('sessionId' in scope) || (scope.agent === agent && scope.sessionId === sessionId)
}

/** The text of a session ends where its JSON does, so that ids with the same concatenation differ. */
function nameOf({ key, turnId }: RunKey): string {
  return sessionOf(key) + turnId
}

function sessionOf({ tenant, owner, agent, sessionId }: SessionKey): string {
  return JSON.stringify([tenant, owner, agent, sessionId])
}
