import type { EmbeddingModel } from '../../src/recall/index.ts'

/** Words with the same meaning, one group for each dimension. */
const meanings = [/alpaca|llama|hay/, /car|automobile|vehicle/, /garage|repair|mechanic/, /tea|drink/]

/** Returns a vector by what a text means, and a last dimension that all texts have. */
export function meaningOf(text: string): number[] {
  const lower = text.toLowerCase()
  return [...meanings.map((words) => (words.test(lower) ? 1 : 0)), 0.1]
}

export interface Meaning extends EmbeddingModel {
  /** The texts of each call. */
  readonly calls: string[][]
}

/** An embedding model that knows what its few words mean, and counts a token for each word. */
export function meaningModel(more: Partial<EmbeddingModel> = {}): Meaning {
  const calls: string[][] = []
  return {
    provider: 'openai.embedding',
    modelId: 'meaning',
    calls,
    ...more,
    doEmbed: async (options) => {
      calls.push(options.values)
      if (more.doEmbed) return more.doEmbed(options)
      const tokens = options.values.reduce((sum, text) => sum + text.split(' ').length, 0)
      return { embeddings: options.values.map(meaningOf), usage: { tokens } }
    },
  }
}
