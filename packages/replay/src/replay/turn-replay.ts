import type { Emit, HookInfo, Journal, ModelContext, StoredTurn, ToolContext } from '@allium/core'
import { pinnedModel } from '../answers/pinned-model.ts'
import { copyOfResult, errorOf, isCancelled } from '../answers/recorded-error.ts'
import { nameOf, RecordedSteps } from '../answers/recorded-steps.ts'
import { DecisionList } from '../decisions/decision-list.ts'
import type { DecisionSink } from '../decisions/decision-watcher.ts'
import { recordedDecision, unseenDecisions } from '../recorded-decision.ts'
import type { RecordedDecision, RecordedStep } from '../recorded-turn.ts'
import type { ChangedLayers } from './changed-layers.ts'
import { delegatesOnly } from './delegates.ts'
import type { Divergence, SentRequest } from './divergence.ts'
import { Schedule } from './schedule.ts'
import type { TurnToReplay } from './turn-to-replay.ts'

/** The replay of one turn: it answers the turn's steps from the recording, and keeps what the agent does now. */
export class TurnReplay implements DecisionSink {
  readonly recorded: TurnToReplay['recorded']
  readonly turnId: string
  readonly requests: SentRequest[] = []
  /** The recorded steps that the replay used. */
  readonly used = new Set<string>()
  readonly notes = new Set<string>()
  readonly schedule: Schedule
  readonly steps: RecordedSteps
  readonly layers: ChangedLayers
  /** What the journal of the run is. It compares nothing, and never says what it knows: then the run would be a restart. */
  readonly journal: Journal
  /** The turn of a tool call whose sub-agent is not entered. */
  readonly opaque = new Set<string>()
  divergence: Divergence | undefined
  /** The turn as it would be stored. */
  stored: StoredTurn | undefined
  readonly #decisions = new DecisionList<RecordedDecision>()
  readonly #end = new AbortController()
  /** The steps of `once()` that run again, because their layer has changed. */
  readonly #live = new Set<string>()

  constructor({ recorded, turnId }: TurnToReplay, layers: ChangedLayers) {
    this.recorded = recorded
    this.turnId = turnId
    this.layers = layers
    this.steps = new RecordedSteps(recorded.steps, turnId)
    this.schedule = new Schedule(recorded, () => this.diverge(turnId, undefined, 'nothing happens any more'))
    this.journal = {
      compares: false,
      step: (id, work, emit, layer?: string) => this.#step(id, work as never, emit as never, layer) as never,
    }
  }

  get signal(): AbortSignal {
    return this.#end.signal
  }

  /** Aborts the run again. @param reason the message of the error that it was aborted with */
  abort(reason: string): void {
    this.#end.abort(Object.assign(new Error(reason), { name: 'AbortError' }))
  }

  /** Ends the replay: an answer is needed that the recording does not have. */
  diverge(turnId: string, call: Divergence['call'], why: string): void {
    if (this.stored !== undefined) return
    this.divergence ??= { turnId, call, why }
    this.#end.abort(`The replay diverged: ${why}`)
  }

  get decisions(): readonly RecordedDecision[] {
    const { stored } = this
    if (stored === undefined || this.divergence !== undefined) return this.#decisions.items
    for (const unseen of unseenDecisions(stored, this.#decisions)) this.#decisions.add(unseen)
    return this.#decisions.items
  }

  /** After a divergence, layers only unwind. */
  decided(...[open, decision]: Parameters<DecisionSink['decided']>): void {
    if (this.divergence === undefined) this.#decisions.add(recordedDecision(open, decision))
  }

  returned(open: Parameters<DecisionSink['returned']>[0]): void {
    if (this.divergence === undefined) this.#decisions.returned(recordedDecision(open, { decision: 'skipped' }))
  }

  /** Returns the recorded answer of a cache, if it answered the call then and has not changed. */
  cached({ layer, scope }: HookInfo, ctx: ModelContext | ToolContext): unknown {
    const call = scope === 'tool' ? (ctx as ToolContext).callId : (ctx as ModelContext).callIndex
    const hit = this.recorded.decisions.find(
      (one) => one.layer === layer && one.scope === scope && one.turnId === ctx.turnId && one.call === call,
    )
    if (hit?.decision !== 'skipped' || hit.answer === undefined || this.layers.isChanged(ctx.turnId, layer))
      return undefined
    for (const step of this.steps.list)
      if (step.layer === layer && nameOf(step.id, this.turnId).turnId === ctx.turnId) this.used.add(step.id)
    return ctx.skipCall(structuredClone(hit.answer) as never)
  }

  /** The core of a model call: swaps the model. */
  model(ctx: ModelContext, next: () => unknown): unknown {
    const { turnId, callIndex: call, attempt, model, request } = ctx
    if (this.divergence !== undefined) return rejected(this.#end.signal.reason)
    this.requests.push({ turnId, call, attempt, model, request })
    const id = `${turnId}:model:${call}:${attempt}`
    const place = this.steps.placeOf(id)
    if (place === undefined) return this.#missing(turnId, call, 'this model call has no recorded answer')
    const step = this.steps.list[place] as RecordedStep
    const ready = () => (isCancelled(step) ? undefined : this.schedule.turnOf(place))
    ctx.setModel(pinnedModel(model, step, ready))
    return next()
  }

  /** The core of a tool call, before its step. */
  tool(ctx: ToolContext, next: () => unknown): unknown {
    if (this.divergence !== undefined) return rejected(this.#end.signal.reason)
    const { turnId, callId, attempt } = ctx
    if (delegatesOnly(ctx)) this.#delegates.add(`${turnId}:tool:${callId}:${attempt}`)
    this.#args.set(`${turnId}:tool:${callId}:${attempt}`, ctx)
    return next()
  }
  readonly #delegates = new Set<string>()
  readonly #args = new Map<string, ToolContext>()

  #step(id: string, work: (emit: Emit<unknown>) => unknown, emit: Emit<unknown>, layer: string | undefined): unknown {
    this.schedule.touch()
    const place = this.steps.placeOf(id)
    const { kind, turnId } = nameOf(id, this.turnId)
    if (place !== undefined) this.used.add(id)
    if (kind === 'model') return this.#run(place, () => work(emit))
    if (kind === 'tool') return this.#tool(id, place, () => work(emit))
    if (kind === 'once') return this.#once(id, place, layer, turnId, () => work(emit))
    return this.#run(place, () => work(emit))
  }

  /** Runs a step here. */
  async #run(place: number | undefined, work: () => unknown): Promise<unknown> {
    try {
      return await work()
    } finally {
      if (place !== undefined) this.schedule.ended(place)
    }
  }

  /** Answers a tool call. The code of a tool never runs, except if it only delegates to an agent. */
  async #tool(id: string, place: number | undefined, work: () => unknown): Promise<unknown> {
    const ctx = this.#args.get(id)
    if (this.#delegates.has(id)) return this.#run(place, work)
    const { turnId, callId } = ctx ?? { turnId: nameOf(id, this.turnId).turnId, callId: id }
    if (place === undefined) return this.#missing(turnId, callId, 'the tool did not run, so its result is unknown')
    if (this.steps.hasInside(turnId, callId)) this.#notEntered(turnId, callId, ctx?.tool.name)
    return this.#answer(place)
  }

  #notEntered(turnId: string, callId: string, name = callId): void {
    this.opaque.add(`${turnId}/${callId}`)
    this.notes.add(`sub-agent of tool ${name} not entered`)
  }

  /** Answers `once()` as recorded, unless its layer has changed. */
  #once(
    id: string,
    place: number | undefined,
    layer: string | undefined,
    turnId: string,
    work: () => unknown,
  ): unknown {
    const live = [...this.#live].find((outer) => id.startsWith(`${outer}:`))
    if (live !== undefined) return this.#missing(turnId, undefined, `once() of "${layer ?? live}" needs a live answer`)
    if (place !== undefined && !this.layers.isChanged(turnId, layer)) return this.#answer(place)
    this.#live.add(id)
    return this.#run(place, work)
  }

  async #answer(place: number): Promise<unknown> {
    await this.schedule.turnOf(place)
    const step = this.steps.list[place] as RecordedStep
    this.schedule.ended(place)
    if (step.error !== undefined) throw errorOf(step.error)
    return copyOfResult(step.result)
  }

  #missing(turnId: string, call: Divergence['call'], why: string): Promise<never> {
    this.diverge(turnId, call, why)
    return rejected(this.#end.signal.reason)
  }
}

function rejected(reason: unknown): Promise<never> {
  const promise = Promise.reject(reason)
  promise.catch(() => {})
  return promise
}
