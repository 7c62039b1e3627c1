import type { Model, ModelChunk, ModelContext, ModelRequest, ModelResponse, NextFor } from '@allium/core'
import { isBlockError } from '@allium/core'
import { passageText } from '@allium/store/passages'
import { embedTexts } from './embed-texts.ts'
import { type EmbeddingModel, embeddingModelId } from './embedding-model.ts'
import { toBytes } from './vector.ts'

/** The longest text that is embedded, in UTF-16 units. Models take some thousand tokens. */
const longestText = 2_000

/**
 * One embedding of a question and of passages, as a model whose call meters count and guards see like any other. It answers with an empty
 * text. The question is the last message of its request, so that layers can redact it. The passages are as the store has them.
 */
export class EmbeddingCall implements Model {
  readonly id: string
  readonly #model: EmbeddingModel
  readonly #passages: readonly string[]
  /** The vector of the question, then those of the passages. Undefined if a journal has replayed the call. */
  vectors: readonly Int8Array[] | undefined
  /** Why the call failed. */
  error: unknown

  constructor(model: EmbeddingModel, passages: readonly string[]) {
    this.id = embeddingModelId(model)
    this.#model = model
    this.#passages = passages.map((text) => text.slice(0, longestText))
  }

  /** The passages as a system message, from which budgets estimate the tokens. */
  get system(): string {
    return ['Embeds the next message and these texts.', ...this.#passages].join('\n')
  }

  async *stream({ messages, signal }: ModelRequest): AsyncGenerator<ModelChunk, void, undefined> {
    const last = messages.at(-1)
    const question = last === undefined ? '' : passageText(last).slice(0, longestText)
    const { vectors, tokens } = await embedTexts(this.#model, [question, ...this.#passages], signal)
    this.vectors = vectors.map(toBytes)
    yield { type: 'finish', reason: 'stop', usage: tokens === undefined ? {} : { inputTokens: tokens } }
  }

  /** Makes the call in place of the model's. If it fails, layers outside see an empty answer, because the model has not failed. */
  async enter(ctx: ModelContext, next: NextFor<ModelResponse>): Promise<ModelResponse> {
    if (this.vectors !== undefined || this.error !== undefined) return ctx.skipCall('')
    ctx.setModel(this)
    try {
      return await next()
    } catch (error) {
      if (isBlockError(error) || ctx.signal.aborted) throw error
      this.error = error
      return ctx.skipCall('')
    }
  }
}
