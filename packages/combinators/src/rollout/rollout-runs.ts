import {
  AlliumError,
  type Middleware,
  messageOf,
  type StoredTurn,
  sessionKeyOf,
  type TurnContext,
  writerOf,
} from '@allium/core'
import { aroundRun } from '@allium/core/context'
import { type SessionPlace, tellObservers } from '@allium/core/internal'
import { type RolloutStore, type RunKey, type SessionStore, sharedStore } from '@allium/store'
import { hashToUnit, ownerKey } from '../canary.ts'
import type { AnyContext } from '../combine.ts'
import { describe } from '../describe.ts'
import { type Choice, LiveArms } from './live-arms.ts'
import type { Settings } from './rollout-options.ts'
import { RolloutWatch, type Surroundings } from './rollout-watch.ts'
import { type Outcome, servedTurn } from './served-turn.ts'

type Logging = Pick<AnyContext, 'logger'>

/** The turns of a rollout: which arm serves them, and their scores. */
export class RolloutRuns {
  readonly #settings: Settings
  readonly #watch: RolloutWatch
  readonly #live = new LiveArms()
  readonly #pending = new Set<Promise<void>>()
  readonly #begun = new WeakMap<RunKey, Promise<void>>()
  #store: RolloutStore | undefined
  #sessions: Pick<SessionStore, 'find'> | undefined

  constructor(settings: Settings) {
    this.#settings = settings
    this.#store = settings.store
    this.#watch = new RolloutWatch(settings.name, settings.refresh)
  }

  /** The layer around the one that is rolled out. It chooses for each turn, and counts it. */
  get layer(): Middleware {
    const { name, percent, maxDrop, alpha, turns, windowMs, promote } = this.#settings
    return {
      name: `rollout:${name}`,
      options: { percent, maxDrop, alpha, turns, windowMs, promote },
      agent: (ctx, next) => {
        const shared = ctx.find(sharedStore)
        this.#store ??= shared?.rollouts
        this.#sessions = shared?.sessions
        return next()
      },
      session: (ctx, next) => {
        aroundRun(ctx, async (run, proceed) => {
          const { principal } = ctx
          try {
            const turn = await proceed()
            const choice = this.#live.take({ principal, turnId: turn.turnId })
            if (choice?.run !== undefined) this.#keep(this.#end(choice.run, turn, ctx))
            return turn
          } catch (error) {
            // Another process continues the turn. Its id is still the coming one.
            this.#live.take({ principal, turnId: run.turnId })
            throw error
          }
        })
        return next()
      },
      turn: async (ctx, next) => {
        const choice = await ctx.once(`rollout:${name}`, () => this.#choose(ctx as AnyContext))
        this.#live.add(ctx, choice)
        this.#begin(choice, ctx as AnyContext)
        await next()
      },
    }
  }

  /** Whether the layer runs in a turn, or in a turn of a sub-agent. */
  isCanary(ctx: AnyContext): boolean {
    return this.#live.find(ctx)?.isCanary === true
  }

  /** Whether the layer may run in the turns of a session. */
  mayServe(ctx: AnyContext): boolean {
    const key = this.#settings.per === undefined ? keyOf(ctx, ownerKey(ctx)) : undefined
    return key === undefined ? this.#settings.percent > 0 : this.#isSelected(key)
  }

  /** @throws AlliumError `layer.config` */
  store(): RolloutStore {
    if (this.#store !== undefined) return this.#store
    const fix = 'Pass { store: store.rollouts }, or give the agent a store that has rollouts and start it.'
    throw new AlliumError('layer.config', `The rollout "${this.#settings.name}" has no store. ${fix}`)
  }

  /** A turn that was suspended counts under the id of its first run, and may be scored under that of a later one. */
  async score(run: RunKey, score: number | undefined): Promise<boolean> {
    const { name } = this.#settings
    if (await this.store().score(name, run, score)) return true
    const { rootId: turnId = run.turnId } = (await this.#sessions?.find(run.key, { turnId: run.turnId })) ?? {}
    return turnId !== run.turnId && this.store().score(name, { ...run, turnId }, score)
  }

  async settled(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending)
  }

  async #choose(ctx: AnyContext): Promise<Choice> {
    const { per = ownerKey, promote, percent } = this.#settings
    const state = await this.#watch.state(this.#surroundings(ctx))
    if (state === 'unknown' || state?.stopped !== undefined) return { isCanary: false }
    const user = keyOf(ctx, await per(ctx))
    const isPromoted = promote && state?.goodAt !== undefined
    const isCanary = isPromoted || this.#isSelected(user)
    // Without both arms there is nothing to compare.
    if (isPromoted || percent === 0 || percent === 100) return { isCanary }
    return { isCanary, user, run: { key: { ...(ctx.sessionKey as RunKey['key']) }, turnId: String(ctx.turnId) } }
  }

  /** Stores that the turn has begun, also if it never ends. The turn does not wait for it. */
  #begin({ isCanary, user, run }: Choice, ctx: AnyContext): void {
    if (run === undefined || user === undefined) return
    const { name: rollout, turns, windowMs, maxDrop, alpha } = this.#settings
    const begun = this.store()
      .begin({ rollout, run, user, isCanary, turns, windowMs, maxDrop, alpha }, writerOf(ctx as TurnContext))
      .catch((error) => this.#warn(ctx, run, error))
    this.#begun.set(run, begun)
    this.#keep(begun)
  }

  async #end(run: RunKey, turn: StoredTurn, ctx: Logging): Promise<void> {
    if (turn.status === 'suspended' || turn.status === 'interrupted') return
    await this.#begun.get(run)
    if (this.#settings.score === undefined && turn.status !== 'failed') return
    try {
      await this.store().score(this.#settings.name, run, await this.#outcomeOf(run, turn, ctx))
    } catch (error) {
      this.#warn(ctx, run, error)
    }
  }

  /** A failed turn scores 0. An aborted one, or one whose score fails, has no outcome. */
  async #outcomeOf(run: RunKey, turn: StoredTurn, ctx: Logging): Promise<number | undefined> {
    const served = servedTurn(this.#settings.name, { ...run, turnId: turn.turnId }, turn)
    if (served === undefined) return turn.status === 'failed' ? 0 : undefined
    try {
      return scoreOf(await this.#settings.score?.(served))
    } catch (error) {
      this.#warn(ctx, run, error)
      return undefined
    }
  }

  /** Work that a turn does not wait for. */
  #keep(work: Promise<void>): void {
    const kept = work.finally(() => this.#pending.delete(kept))
    this.#pending.add(kept)
  }

  #isSelected(user: string): boolean {
    return hashToUnit(user, this.#settings.name) * 100 < this.#settings.percent
  }

  #surroundings(ctx: AnyContext): Surroundings {
    const { clock, logger } = ctx
    return { clock, logger, store: this.store(), emit: (event) => tellObservers(ctx, { ...event }) }
  }

  #warn({ logger }: Logging, { turnId }: RunKey, error: unknown): void {
    const { name } = this.#settings
    logger.warn(`The turn "${turnId}" has no outcome in the rollout "${name}": ${messageOf(error)}`, { error })
  }
}

function keyOf(ctx: AnyContext, key: unknown): string {
  return key === undefined || key === null || key === '' ? sessionKeyOf(ctx as SessionPlace) : String(key)
}

/** @throws TypeError for anything that is not an outcome */
function scoreOf(outcome: Outcome): number | undefined {
  const score = typeof outcome === 'object' && outcome !== null ? outcome.score : outcome
  if (score === undefined) return undefined
  const number = Number(score)
  const isScore = (typeof score === 'number' || typeof score === 'boolean') && number >= 0 && number <= 1
  if (!isScore) throw new TypeError(`The score is ${describe(score)}. Return a number from 0 to 1, or undefined.`)
  return number
}
