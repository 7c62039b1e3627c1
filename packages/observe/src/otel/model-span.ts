import type { ModelContext, ModelResponse } from '@allium/core'
import { isReplaying, type PhysicalCall, physicalCallsOf } from '@allium/core/context'
import { usageOf } from '@allium/core/internal'
import type { CostOf } from '@allium/shared/prices'
import { SpanKind } from '@opentelemetry/api'
import { decisionOfError } from '../failure.ts'
import { ignoreErrors } from '../ignore-errors.ts'
import { firstChunkOf, stopwatch } from '../stopwatch.ts'
import { CallSpan } from './call-span.ts'
import { modelValues, requestValues, responseValues, serverValues, usageValues } from './call-values.ts'
import { definitionsContent, inputContent, outputContent } from './content.ts'
import { alliumNames, type Values } from './conventions.ts'
import { emitException } from './event-logger.ts'
import type { OpenTurn, SpanSettings, TurnSpans } from './turn-spans.ts'

/** The span of a model call. It tells its turn the input of the first call and the answer of the last. */
export class ModelSpan extends CallSpan<ModelResponse> {
  readonly #ctx: ModelContext
  readonly #turn: OpenTurn
  readonly #firstChunk: () => number | undefined

  constructor(ctx: ModelContext, turns: TurnSpans) {
    const { attempt } = ctx
    const content = contentValues(ctx, turns.settings)
    const values = { ...requestValues(ctx), ...content }
    super(ctx, turns, {
      span: 'inference',
      operation: 'chat',
      subject: modelValues(ctx.model).requestModel,
      kind: SpanKind.CLIENT,
      values,
      ...(attempt > 1 && { attributes: { [alliumNames.attempt]: attempt } }),
    })
    this.#ctx = ctx
    this.#turn = turns.of(ctx)
    this.#turn.values = { ...content, outputType: values.outputType, ...this.#turn.values }
    this.#firstChunk = firstChunkOf(ctx, stopwatch(ctx.clock))
  }

  returned(response: ModelResponse): void {
    const { content, conventions } = this.settings
    const firstChunk = this.#firstChunk()
    const { finishReasons, ...values } = responseValues(response)
    const answer: Values = { finishReasons, ...(content && outputContent(response, conventions.parts)) }
    this.set({ ...values, ...answer, firstChunk: firstChunk === undefined ? undefined : firstChunk / 1000 })
    this.#turn.values = { ...this.#turn.values, ...answer, failureReasons: undefined }
  }

  override failed(error: unknown): void {
    super.failed(error)
    const failure = { failureReasons: ['error'] }
    this.set(failure)
    this.#turn.values = { ...this.#turn.values, finishReasons: undefined, ...failure }
    const { eventLogger, ...settings } = this.settings
    if (eventLogger !== undefined && decisionOfError(error) === 'failed' && !isReplaying(this.#ctx))
      emitException(eventLogger, error, { ...settings, context: this.context })
  }

  override end(): Promise<void> | undefined {
    const calls = ignoreErrors(() => physicalCallsOf(this.#ctx)) ?? []
    ignoreErrors(() => {
      const usage = usageOf(calls)
      this.set({ ...usageValues(usage), ...serverValues(calls.at(-1)) })
      if (usage.estimated === true) this.span.setAttribute(alliumNames.estimated, true)
    })
    const { costOf } = this.settings
    return costOf === undefined ? super.end() : this.#price(calls, costOf).finally(() => super.end())
  }

  /** Records the cost. If the price of a call is unknown, neither the span nor its turn has one. */
  async #price(calls: readonly PhysicalCall[], costOf: CostOf): Promise<void> {
    const prices = calls.map(({ model, usage }) => costOf(model, usage).catch(() => undefined))
    const cost = (await Promise.all(prices)).reduce<number>((sum, price) => sum + (price ?? Number.NaN), 0)
    if (!Number.isNaN(cost)) this.span.setAttribute(this.settings.costName, cost)
    for (let turn: OpenTurn | undefined = this.#turn; turn !== undefined; turn = turn.caller) turn.cost += cost
  }
}

function contentValues({ request }: ModelContext, { content, toolDefinitions, conventions }: SpanSettings): Values {
  return {
    ...(content && inputContent(request.messages, conventions.parts)),
    ...(toolDefinitions && definitionsContent(request.tools)),
  }
}
