import type { AlliumError, Model, ModelChunk, ModelRequest } from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import { cleaner, cleanRequest, fromJson, requestData, reviveError, type Scrub } from '@allium/shared/recording'
import { type Cassette, type CassetteEntry, checkCassette } from './cassette-data.ts'
import { noMatch, unusedTakes } from './replay-errors.ts'
import { requestKey, takesOf } from './takes.ts'

export interface ReplayModelOptions {
  /** The same as for recording. @default [] */
  scrub?: Scrub | undefined
  /** The name of the recording in messages. @default the id of its model */
  name?: string | undefined
}

const optionKeys: KeysOf<ReplayModelOptions> = { scrub: true, name: true }

export interface ReplayingModel extends Model {
  /** Throws unless exactly the recorded calls were used. @throws AlliumError `test.cassette` */
  done(): void
}

/**
 * Creates a model that answers from a recording, with the same chunks or the same error. A call is found by its request without
 * secrets, signal and principal. Equal calls are answered in recorded order. A call that was not recorded fails with `test.cassette`;
 * the message shows how it differs from the nearest recorded one.
 *
 * A call that its reader abandoned in the recording waits after its chunks until it is aborted.
 *
 * @example
 * const model = replayModel(cassette)
 * await new Agent({ model }).run('Hello')
 * model.done()
 */
export function replayModel(cassette: Cassette, options: ReplayModelOptions = {}): ReplayingModel {
  checkOptions(options, optionKeys, 'replayModel()', 'options.invalid')
  const { scrub, name } = options
  const called = name ?? `The recording of "${cassette?.model}"`
  checkCassette(cassette, called)
  const clean = cleaner(scrub)
  const takes = takesOf(cassette, clean)
  let miss: AlliumError | undefined

  return {
    id: cassette.model,
    async *stream(request) {
      const requestContent = cleanRequest(requestData(request), clean)
      const key = requestKey(requestContent)
      const take = takes.find((candidate) => !candidate.used && candidate.key === key)
      if (take === undefined) {
        const error = noMatch(called, takes, { key, request: requestContent })
        miss ??= error
        throw error
      }
      take.used = true
      yield* play(take.entry, request)
    },
    done() {
      if (miss !== undefined) throw miss
      if (takes.some(({ used }) => !used)) throw unusedTakes(called, takes)
    },
  }
}

async function* play({ chunks, error, left }: CassetteEntry, request: ModelRequest): AsyncGenerator<ModelChunk> {
  for (const chunk of chunks) yield fromJson(chunk) as ModelChunk
  if (error !== undefined) throw reviveError(error)
  if (left === true) await rejectOnAbort(request.signal)
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) return reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}
