import { AlliumError, messageOf } from '@allium/core'
import { describe, isRecord } from '@allium/core/internal'
import { type EmbeddingModel, embeddingModelId } from './embedding-model.ts'

/** The maximum number of texts in a call. Providers limit the tokens of a call, too. */
const batchSize = 100
const maxDimensions = 8192

/** Vectors in the order of their texts. */
export interface Embedded {
  readonly vectors: readonly (readonly number[])[]
  /** Undefined if the provider counts none. */
  readonly tokens: number | undefined
}

/**
 * Embeds texts in as many calls as the model needs.
 *
 * @throws AlliumError `model.failed` if a call fails or returns something else than a vector for each text, with the usage of the others
 */
export async function embedTexts(
  model: EmbeddingModel,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<Embedded> {
  const most = await model.maxEmbeddingsPerCall
  const size = most !== undefined && most >= 1 ? Math.min(Math.floor(most), batchSize) : batchSize
  const batches = Array.from({ length: Math.ceil(texts.length / size) }, (_, i) =>
    texts.slice(i * size, (i + 1) * size),
  )
  let tokens: number | undefined
  const embed = async (values: string[]) => {
    signal.throwIfAborted()
    const result: unknown = await model.doEmbed({ values, abortSignal: signal })
    const used = isRecord(result) && isRecord(result.usage) ? Number(result.usage.tokens) : Number.NaN
    if (used >= 0) tokens = (tokens ?? 0) + used
    return vectorsOf(isRecord(result) ? result.embeddings : undefined, values.length)
  }
  try {
    const vectors =
      (await model.supportsParallelCalls) === true ? await all(batches, embed) : await inTurn(batches, embed)
    const dimensions = vectors[0]?.length
    if (vectors.some(({ length }) => length !== dimensions))
      throw new TypeError('It returned vectors of different lengths.')
    return { vectors, tokens }
  } catch (cause) {
    if (signal.aborted) throw signal.reason
    throw new AlliumError(
      'model.failed',
      `The embedding model "${embeddingModelId(model)}" did not embed ${texts.length} texts: ${messageOf(cause)}`,
      { cause, details: { usage: { inputTokens: tokens ?? 0 } } },
    )
  }
}

type Vectors = readonly number[][]

/** Waits for all calls, so that the usage of those that succeed is known. */
async function all(batches: readonly string[][], embed: (values: string[]) => Promise<Vectors>): Promise<Vectors> {
  const settled = await Promise.allSettled(batches.map(embed))
  return settled.flatMap((one) => {
    if (one.status === 'rejected') throw one.reason
    return one.value
  })
}

async function inTurn(batches: readonly string[][], embed: (values: string[]) => Promise<Vectors>): Promise<Vectors> {
  const vectors: number[][] = []
  for (const values of batches) vectors.push(...(await embed(values)))
  return vectors
}

/** @throws TypeError */
function vectorsOf(given: unknown, count: number): Vectors {
  if (!Array.isArray(given) || given.length !== count)
    throw new TypeError(
      `It returned ${Array.isArray(given) ? given.length : describe(given)} vectors for ${count} texts.`,
    )
  if (!given.every(isVector))
    throw new TypeError(`It returned a vector that is not 1 to ${maxDimensions} finite numbers.`)
  return given
}

function isVector(vector: unknown): vector is number[] {
  return (
    Array.isArray(vector) &&
    vector.length >= 1 &&
    vector.length <= maxDimensions &&
    vector.every((n) => Number.isFinite(n))
  )
}
