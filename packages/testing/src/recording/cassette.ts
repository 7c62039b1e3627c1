import type { Model } from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import type { Scrub } from '@allium/shared/recording'
import { loadCassette, saveCassette } from './cassette-file.ts'
import { recordModel } from './record-model.ts'
import { recordingError } from './recording-error.ts'
import { replayModel } from './replay-model.ts'

/** Whether to call the model (`record`), answer from the file (`replay`), or use the file if it exists (`auto`). */
export type CassetteMode = 'record' | 'replay' | 'auto'

export interface CassetteOptions {
  /** The model to record. A function is called only for recording, so that replaying needs no key. */
  model?: Model | (() => Model | Promise<Model>)
  /** `auto` never records in CI. @default the environment's ALLIUM_CASSETTES, else 'auto' */
  mode?: CassetteMode | undefined
  /** Texts to remove in addition to credentials; also values that differ between runs. @default [] */
  scrub?: Scrub | undefined
  /** @default process.env */
  env?: Record<string, string | undefined>
}

const optionKeys: KeysOf<CassetteOptions> = { model: true, mode: true, scrub: true, env: true }

/** A cassette file in use. */
export interface Tape {
  /** The model for `new Agent({ model })`. */
  readonly model: Model
  /** Whether it records or replays. */
  readonly mode: 'record' | 'replay'
  /**
   * Must be called at the end of the test. When recording, it writes the file; a test that fails earlier keeps the old file. When
   * replaying, it throws unless every recorded call was used.
   */
  done(): Promise<void>
}

/**
 * Answers from a file. If the file is missing, calls the model and writes the file; in CI a missing file is an error.
 * To record again, delete the file or set ALLIUM_CASSETTES=record.
 *
 * @param path from the working directory
 * @throws AlliumError `test.cassette` when there is nothing to replay, or no model to record
 * @example
 * const tape = await cassette('test/cassettes/refund.json', { model: () => fromAiSdk(openai('gpt-5')) })
 * const { text } = await new Agent({ model: tape.model }).run('Where is my refund?')
 * await tape.done()
 */
export async function cassette(path: string, options: CassetteOptions = {}): Promise<Tape> {
  checkOptions(options, optionKeys, 'cassette()', 'options.invalid')
  const env = options.env ?? globalThis.process?.env ?? {}
  const mode = options.mode ?? modeOf(env)
  const loaded = mode === 'record' ? undefined : await loadCassette(path)
  if (loaded !== undefined) return replayTape(replayModel(loaded, { scrub: options.scrub, name: path }))
  if (mode === 'replay') throw recordingError(`No recording at ${path}. ${instructions}`, { path })
  if (mode === 'auto' && isCi(env))
    throw recordingError(`No recording at ${path}, and CI does not record. ${instructions}`, { path })
  return recordTape(path, options)
}

const instructions = 'Run the test once with ALLIUM_CASSETTES=record and the key of the provider, and commit the file.'

function replayTape(model: ReturnType<typeof replayModel>): Tape {
  return { model, mode: 'replay', done: async () => model.done() }
}

async function recordTape(path: string, { model, scrub }: CassetteOptions): Promise<Tape> {
  if (model === undefined)
    throw recordingError(`No model to record to ${path}. Pass one: cassette(path, { model }).`, { path })
  const recorder = recordModel(typeof model === 'function' ? await model() : model, { scrub })
  return {
    model: recorder,
    mode: 'record',
    async done() {
      if (recorder.cassette.entries.length === 0)
        throw recordingError(`No model call was recorded to ${path}. Pass the model of the tape to the agent.`, {
          path,
        })
      await saveCassette(path, recorder.cassette)
    },
  }
}

function modeOf({ ALLIUM_CASSETTES: mode = 'auto' }: Record<string, string | undefined>): CassetteMode {
  if (mode === 'record' || mode === 'replay' || mode === 'auto') return mode
  throw recordingError(`ALLIUM_CASSETTES is "${mode}". Set it to record, replay or auto.`)
}

function isCi({ CI: ci = '' }: Record<string, string | undefined>): boolean {
  return !['', '0', 'false'].includes(ci.toLowerCase())
}
