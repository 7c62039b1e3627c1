import type { ModelContext, ModelResponse } from '@allium/core'
import { physicalCallsOf } from '@allium/core/context'
import { usageOf } from '@allium/core/internal'
import { SpanKind } from '@opentelemetry/api'
import { ignoreErrors } from '../ignore-errors.ts'
import { firstChunkOf, stopwatch } from '../stopwatch.ts'
import { requestAttributes, responseAttributes, serverAttributes, usageAttributes } from './call-attributes.ts'
import { CallSpan } from './call-span.ts'
import { inputContent, outputContent } from './content.ts'
import { modelAttributes, splitModel } from './model-attributes.ts'
import { names } from './names.ts'
import type { TurnSpans } from './turn-spans.ts'

/** The span of a model call. */
export class ModelSpan extends CallSpan<ModelResponse> {
  readonly #ctx: ModelContext
  readonly #firstChunk: () => number | undefined

  constructor(ctx: ModelContext, turns: TurnSpans) {
    super(ctx, turns, {
      operation: 'chat',
      subject: splitModel(ctx.model).model,
      kind: SpanKind.CLIENT,
      attributes: {
        ...modelAttributes(ctx.model),
        [names.conversation]: ctx.sessionId,
        ...requestAttributes(ctx),
        ...(turns.content && inputContent(ctx.request.messages)),
      },
    })
    this.#ctx = ctx
    this.#firstChunk = firstChunkOf(ctx, stopwatch(ctx.clock))
  }

  returned(response: ModelResponse): void {
    const firstChunk = this.#firstChunk()
    this.span.setAttributes({
      ...responseAttributes(response),
      ...(firstChunk !== undefined && { [names.firstChunk]: firstChunk / 1000 }),
      ...(this.content && outputContent(response)),
    })
  }

  override end(): void {
    const calls = ignoreErrors(() => physicalCallsOf(this.#ctx)) ?? []
    ignoreErrors(() => this.span.setAttributes(usageAttributes(usageOf(calls))))
    this.span.setAttributes(serverAttributes(calls.at(-1)))
    super.end()
  }
}
