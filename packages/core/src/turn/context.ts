import { layerOf } from '../agent/scope/context.ts'
import type { OnInput, TurnContext, TurnView } from '../contexts/turn.ts'
import { BlockError, type BlockOptions } from '../errors/block-error.ts'
import { cloneJson } from '../messages/json.ts'
import { toJson } from '../messages/plain-json.ts'
import type { Model, ModelRef } from '../model/model.ts'
import { layerError } from '../onion/misuse.ts'
import { resolveModel as resolveRef } from '../session/scope/resolve-model.ts'
import type { DisplayText } from '../stream/transforms.ts'
import type { ToolExecution } from '../tool/tool.ts'
import { AttemptInTurn } from './attempt-in-turn.ts'
import { Display } from './display.ts'
import { logRecord, storeRecord } from './effect-log.ts'
import type { Turn } from './turn.ts'

/** The one attempt of a turn layer's next(), and the context of that layer. The core's attempt is the context of the loop. */
export class TurnAttempt extends AttemptInTurn<Turn> implements TurnContext {
  /** The layer is inspecting a steered message, so a block rejects only that message. */
  $inspectsSteered = false

  override block(reason: string, options: BlockOptions = {}): never {
    if (this.$inspectsSteered && !this.$isLate('block')) throw new BlockError(reason, options)
    return super.block(reason, options)
  }
  onInput(fn: OnInput): void {
    if (this.$isLate('onInput')) return
    if (this.$inner !== undefined || this.$hook === undefined)
      throw layerError(this, 'layer.late_transform', 'called ctx.onInput() late. Do it in turn(), before next().')
    this.$turn.inputs ??= []
    this.$turn.inputs.push({ fn, layer: this })
  }
  /** A layer depends on the input, so a later message would bypass it. */
  override $reads(): void {
    if (this.$inner !== undefined || this.$hook?.observesOnly !== false) return
    const { view } = this.$turn
    view.readers ??= new Set()
    view.readers.add(this)
  }
}

type InTurn = TurnView<unknown, unknown, unknown, unknown>

/** Returns whether the turn resumes a suspended one. */
export function isResumed(ctx: InTurn): boolean {
  return layerOf('isResumed()', ctx, AttemptInTurn).$turn.options.resume !== undefined
}

/** Returns whether a sub-agent inherited the layer and this call belongs to the sub-agent. */
export function isInherited(ctx: InTurn): boolean {
  return layerOf('isInherited()', ctx, AttemptInTurn).$hook?.levelsUp !== undefined
}

/**
 * Returns the id of the turn's first run, which is the same across suspensions. In an inherited layer it is the id of
 * the parent's turn. Use it for counts per turn.
 */
export function rootTurnIdOf(ctx: InTurn): string {
  return layerOf('rootTurnIdOf()', ctx, AttemptInTurn).$homeTurn.rootId
}

/**
 * Returns whether this part of the run is a replay: the run was cut off, and the journal returns the recorded steps.
 * Layers that log or count should skip it. An event at the very moment of the cut may be emitted in neither process, or
 * in both.
 */
export function isReplaying(ctx: InTurn | ToolExecution): boolean {
  const { $turn, $real, $call } = layerOf<AttemptInTurn>('isReplaying()', ctx, AttemptInTurn)
  return $turn.steps?.isReplaying($real?.$call ?? $call) ?? false
}

/** Sets the maximum number of steps of this turn. At the limit the turn stops with `max_steps`. */
export function setMaxSteps(ctx: InTurn, steps: number): void {
  const layer = layerOf('setMaxSteps()', ctx, AttemptInTurn)
  if (!layer.$isLate('setMaxSteps')) layer.$turn.maxSteps = steps
}

/**
 * Stores data with the run. The record enters the store's outbox together with the run; a run that is not stored leaves
 * no record. Records of a sub-agent are stored with the run of its parent. Takes plain data, like `toJson`, and copies
 * it; bytes, dates and URLs are shared.
 *
 * @throws AlliumError `state.invalid` if the data cannot be stored
 */
export function record(ctx: InTurn, topic: string, data: unknown): void {
  const layer = layerOf('record()', ctx, AttemptInTurn)
  if (layer.$isLate('record')) return
  const { $homeTurn, $effects } = layer
  const { clock, agent } = $homeTurn.session
  toJson(data)
  const stored = { id: agent.setup.ids(), topic, data: cloneJson(data), at: clock.now() }
  storeRecord($homeTurn, stored)
  if ($effects !== undefined) logRecord($effects.session, $effects.levelsUp, stored)
}

/**
 * Maps the text that the run's own reader receives: text and reasoning of the stream, and the `text` of the result.
 * Layers, history, stores and observers keep the original. `make` is called once per text stream.
 */
export function onDisplay(ctx: InTurn, make: () => DisplayText): void {
  const layer = layerOf('onDisplay()', ctx, AttemptInTurn)
  if (layer.$isLate('onDisplay')) return
  const { $turn } = layer
  $turn.display ??= new Display($turn.events)
  $turn.display.add(make)
}

/**
 * Resolves a model reference as the agent does, for a layer that calls a model itself.
 *
 * @throws AlliumError `model.unresolved`, `model.invalid`, `provider.*`
 */
export function resolveModel(ctx: InTurn, ref: ModelRef): Promise<Model> {
  return resolveRef(layerOf('resolveModel()', ctx, AttemptInTurn).$session, ref)
}
