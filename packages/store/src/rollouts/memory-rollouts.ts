import { AlliumError, type Clock, type Erasure, type Writer } from '@allium/core'
import {
  MemoryErasures,
  type RolloutState,
  type RolloutStopper,
  type RolloutStore,
  type RolloutTurn,
} from '@allium/store'
import type { RunKey } from '../event-log.ts'
import { checkLimit, checkRolloutRun, checkRolloutTurn, checkScore } from './check-rollout.ts'
import { armsOf, noRolloutCounts } from './counts.ts'
import { MemoryWindow } from './memory-window.ts'

interface Round {
  readonly number: number
  readonly startedAt: number
  readonly counts: number[]
  readonly windows: Map<string, MemoryWindow>
  /** The users of turns whose windows are open. */
  readonly users: Map<string, string>
  settings?: { readonly maxDrop: number; readonly alpha: number }
  stopped?: NonNullable<RolloutState['stopped']>
  goodAt?: number
}

/** The rollouts of the memory store. */
export class MemoryRollouts implements RolloutStore {
  readonly #clock: Clock
  readonly #random: () => number
  readonly #rounds = new Map<string, Round>()
  readonly #erasures = new MemoryErasures()

  constructor(clock: Clock, random: () => number = Math.random) {
    this.#clock = clock
    this.#random = random
  }

  async begin(given: RolloutTurn, by?: Writer): Promise<void> {
    const turn = checkRolloutTurn(given)
    if (this.#erasures.fences(by)) throw erasedDuringRun()
    const { rollout, user, maxDrop, alpha } = turn
    const round = this.#rounds.get(rollout) ?? this.#newRound(rollout)
    round.settings ??= { maxDrop, alpha }
    if (round.stopped !== undefined) return
    const window = round.windows.get(user) ?? new MemoryWindow(turn, this.#clock.now())
    round.windows.set(user, window)
    if (window.add(nameOf(turn.run), turn.isCanary)) round.users.set(nameOf(turn.run), user)
  }

  async score(rollout: string, run: RunKey, score: number | undefined): Promise<boolean> {
    const name = nameOf(checkRolloutRun(rollout, run))
    const checked = checkScore(score) ?? null
    const round = this.#rounds.get(rollout)
    const window = round?.windows.get(round.users.get(name) ?? '')
    if (round === undefined || round.stopped !== undefined || window === undefined) return false
    window.turns.set(name, { ...window.turn(name), score: checked })
    if (window.isComplete) this.#close(round, window)
    return true
  }

  async look(rollout: string, { limit }: { limit?: number | undefined } = {}): Promise<RolloutState | undefined> {
    const most = checkLimit(limit)
    const round = this.#rounds.get(rollout)
    if (round === undefined) return undefined
    if (round.stopped === undefined) {
      const due = [...round.windows.values()].filter((window) => window.isOpen && window.closesAt <= this.#clock.now())
      for (const window of due.slice(0, most)) this.#close(round, window)
    }
    return stateOf(rollout, round)
  }

  async decide(rollout: string, decision: { round: number; verdict: 'stop' | 'good'; by: RolloutStopper }) {
    const round = this.#rounds.get(rollout)
    if (round?.number !== decision.round || round.stopped !== undefined) return false
    if (decision.verdict === 'good' && round.goodAt !== undefined) return false
    if (decision.verdict === 'good') round.goodAt = this.#clock.now()
    else this.#stop(round, decision.by)
    return true
  }

  async restart(rollout: string): Promise<boolean> {
    const round = this.#rounds.get(rollout)
    if (round !== undefined) this.#newRound(rollout, round.number + 1)
    return round !== undefined
  }

  async list(): Promise<RolloutState[]> {
    const names = [...this.#rounds.keys()].toSorted().slice(0, 1000)
    return names.map((name) => stateOf(name, this.#rounds.get(name) as Round))
  }

  /**
   * Deletes what is stored of an owner or a tenant, but not of a session, because a user outlives it. Rejects turns of runs that began by
   * then.
   */
  erase(erased: Erasure & { readonly sessionId?: string }, at: number): void {
    if (erased.sessionId !== undefined) return
    this.#erasures.add(erased, at)
    for (const { windows, users } of this.#rounds.values())
      for (const [user, window] of windows) {
        if (!window.isOf(erased)) continue
        windows.delete(user)
        for (const name of window.turns.keys()) users.delete(name)
      }
  }

  #newRound(rollout: string, number = 1): Round {
    const startedAt = this.#clock.now()
    const round: Round = { number, startedAt, counts: noRolloutCounts(), windows: new Map(), users: new Map() }
    this.#rounds.set(rollout, round)
    return round
  }

  #close(round: Round, window: MemoryWindow): void {
    for (const name of window.turns.keys()) round.users.delete(name)
    for (const [index, by] of window.close(this.#random())) round.counts[index] = (round.counts[index] as number) + by
  }

  #stop(round: Round, by: RolloutStopper): void {
    round.stopped = { at: this.#clock.now(), by }
    round.windows.clear()
    round.users.clear()
  }
}

function stateOf(rollout: string, { number, startedAt, settings, stopped, goodAt, counts }: Round): RolloutState {
  return {
    ...{ rollout, round: number, startedAt, ...settings },
    ...(stopped !== undefined && { stopped: { ...stopped } }),
    ...(goodAt !== undefined && { goodAt }),
    ...armsOf(counts),
  }
}

/** Without the agent, because a renamed agent keeps its turns. */
function nameOf({ key: { tenant, owner, sessionId }, turnId }: RunKey): string {
  return JSON.stringify([tenant, owner, sessionId, turnId])
}

function erasedDuringRun(): AlliumError {
  return new AlliumError(
    'store.fenced',
    'The data of the owner was erased while the turn was active. It does not count.',
  )
}
