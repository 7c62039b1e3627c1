/** An embedding model of the AI SDK as it is (specification v2, v3, v4 or later, recognized by shape): `openai.embeddingModel('…')`. */
export interface EmbeddingModel {
  readonly provider: string
  readonly modelId: string
  /** The maximum number of texts in a call. */
  readonly maxEmbeddingsPerCall?: PromiseLike<number | undefined> | number | undefined
  readonly supportsParallelCalls?: PromiseLike<boolean> | boolean | undefined
  doEmbed(options: {
    values: string[]
    abortSignal?: AbortSignal
  }): PromiseLike<{ embeddings: number[][]; usage?: { tokens: number } | undefined }>
}

/** Returns the name in prices, usage records and stored vectors: `openai/text-embedding-3-small`. */
export function embeddingModelId({ provider, modelId }: EmbeddingModel): string {
  return `${provider.split('.', 1)[0]}/${modelId}`
}
