import type { Model, ModelChunk, ModelRequest } from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import {
  type CleanText,
  cleanChunks,
  cleaner,
  cleanRequest,
  recordError,
  requestData,
  type Scrub,
  toJson,
} from '@allium/shared/recording'
import type { Cassette, CassetteEntry } from './cassette-data.ts'

export interface RecordModelOptions {
  /** The cassette to which the calls are appended. @default an empty one */
  cassette?: Cassette | undefined
  /** Texts to remove in addition to credentials. @default [] */
  scrub?: Scrub | undefined
}

const optionKeys: KeysOf<RecordModelOptions> = { cassette: true, scrub: true }

export interface RecordingModel extends Model {
  /** All calls so far. A call that has not ended is marked as `left`. */
  readonly cassette: Cassette
}

/**
 * Wraps a model and records each call: the request, the chunks as they arrived, and the error. Credentials are removed before
 * anything is stored. Pass the cassette to `replayModel`, or use `cassette(path)` to store it in a file.
 *
 * @example
 * const model = recordModel(fromAiSdk(openai('gpt-5')))
 * await new Agent({ model }).run('Hello')
 * console.log(JSON.stringify(model.cassette))
 */
export function recordModel(model: Model, options: RecordModelOptions = {}): RecordingModel {
  checkOptions(options, optionKeys, 'recordModel()', 'options.invalid')
  const { cassette, scrub } = options
  const clean = cleaner(scrub)
  const into = cassette ?? { version: 1, model: model.id, entries: [] }
  return {
    id: model.id,
    cassette: into,
    stream: (request) => record(model, request, clean, into.entries),
  }
}

/** The entry is added at the beginning, and counts as `left` until the stream has ended by itself. */
async function* record(model: Model, request: ModelRequest, clean: CleanText, entries: CassetteEntry[]) {
  const chunks: ModelChunk[] = []
  const entry: CassetteEntry = {
    request: cleanRequest(requestData(request), clean),
    get chunks() {
      return cleanChunks(chunks, clean)
    },
    left: true,
  }
  entries.push(entry)
  try {
    for await (const chunk of model.stream(request)) {
      chunks.push(toJson(chunk) as ModelChunk)
      if (chunk.type === 'finish') delete entry.left
      yield chunk
    }
    delete entry.left
  } catch (error) {
    if (!request.signal.aborted) {
      delete entry.left
      entry.error = recordError(error, clean)
    }
    throw error
  } finally {
    Object.defineProperty(entry, 'chunks', { value: entry.chunks, writable: true })
  }
}
