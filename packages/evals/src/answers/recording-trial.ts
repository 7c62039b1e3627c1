import {
  AlliumError,
  type AnyMiddleware,
  digestOf,
  type Journal,
  type Model,
  type ModelChunk,
  type ModelContext,
  textOf,
} from '@allium/core'
import {
  type CleanText,
  cleanChunks,
  cleanRequest,
  fromJson,
  recordError,
  requestData,
  reviveError,
  toJson,
} from '@allium/shared/recording'
import type { AnswerOptions, TrialAnswers } from '../run/answers.ts'
import { maxAnswer, type RecordedAnswer } from './answer.ts'
import type { AnswersMode } from './answers-mode.ts'
import type { AnswerPlace, RecordedAnswers } from './recorded-answers.ts'

interface Setup {
  readonly answers: RecordedAnswers
  readonly mode: AnswersMode
  readonly clean: CleanText
  /** The name of the file in messages. */
  readonly source: string
}

/** A model call that is recorded while it runs. */
interface LiveCall extends AnswerPlace {
  readonly model: string
  readonly signal: AbortSignal
}

/** Records or answers the model calls of one trial: at the core of the onion, so that layers see the same as with a model. */
export class RecordingTrial implements TrialAnswers {
  readonly missing: string[] = []
  readonly #setup: Setup
  readonly #caseId: string
  readonly #trial: number
  /** The number of equal requests, by digest. */
  readonly #repeats = new Map<string, number>()
  /** Calls to record, by the id of their step. */
  readonly #live = new Map<string, LiveCall>()
  #calls = 0

  constructor(setup: Setup, caseId: string, trial: number) {
    this.#setup = setup
    this.#caseId = caseId
    this.#trial = trial
  }

  runOptions(): AnswerOptions {
    const atCore: AnyMiddleware = {
      name: 'evals:answers',
      inherit: true,
      wrapHooks: ({ layer, scope, run }) =>
        layer !== undefined || scope !== 'model'
          ? run
          : async (ctx: ModelContext, next) => {
              await this.#choose(ctx)
              return run(ctx as never, next)
            },
    }
    return { use: [atCore], ...(this.#setup.mode !== 'replay' && { journal: this.#journal() }) }
  }

  /** Lets a recorded answer replace the model of a call, or prepares its recording. */
  async #choose(ctx: ModelContext): Promise<void> {
    const { model, request, turnId, callIndex, attempt, signal } = ctx
    const { answers, mode } = this.#setup
    const place = await this.#placeOf(model, request, this.#calls++)
    const answer = mode === 'record' ? undefined : answers.find(place)
    if (answer !== undefined) return ctx.setModel(answering(model, answer))
    if (mode === 'replay') return ctx.setModel(failing(model, this.#miss(ctx)))
    this.#live.set(`${turnId}:model:${callIndex}:${attempt}`, { ...place, model, signal })
  }

  async #placeOf(model: string, request: ModelContext['request'], at: number): Promise<AnswerPlace> {
    const data = cleanRequest(requestData(request as Parameters<typeof requestData>[0]), this.#setup.clean)
    const digest = (await digestOf({ model, ...data })).slice(0, 22)
    const repeat = this.#repeats.get(digest) ?? 0
    this.#repeats.set(digest, repeat + 1)
    return { request: digest, repeat, case: this.#caseId, trial: this.#trial, at }
  }

  #miss({ model, request }: ModelContext): AlliumError {
    const { answers, clean, source } = this.#setup
    const last = request.messages.at(-1)
    const text = last === undefined ? '' : clean(textOf(last)).slice(0, 80)
    // Reports cut it, and group trials by its start.
    const message = `No answer of "${model}" is recorded for this request. Record the answers again. It is not in ${source}: case "${this.#caseId}", trial ${this.#trial}${text === '' ? '' : ` (${last?.role}: ${text})`}.`
    answers.missing++
    this.missing.push(message)
    return new AlliumError('test.cassette', message)
  }

  /** Returns a journal that records the chunks of model calls, before any layer sees them. */
  #journal(): Journal {
    return {
      compares: false,
      step: (id, work, emit) => {
        const call = this.#live.get(id)
        this.#live.delete(id)
        if (call === undefined) return work(emit)
        const chunks: unknown[] = []
        const ends = async () => {
          try {
            const finish = await work((item) => {
              chunks.push(toJson(item))
              return emit(item)
            })
            this.#add(call, [...chunks, toJson(finish)])
            return finish
          } catch (error) {
            if (!isCancelled(error) && !call.signal.aborted) this.#add(call, chunks, error)
            throw error
          }
        }
        return ends()
      },
    }
  }

  #add({ signal: _, ...call }: LiveCall, raw: readonly unknown[], error?: unknown): void {
    const { answers, clean } = this.#setup
    const chunks = cleanChunks(raw as ModelChunk[], clean) as unknown as RecordedAnswer['chunks']
    const answer = { ...call, chunks, ...(error !== undefined && { error: recordError(error, clean) }) }
    if (JSON.stringify(answer).length > maxAnswer) answers.tooLarge++
    else answers.add(answer)
  }
}

/** Whether a call was aborted or abandoned, so that its answer is not whole. */
function isCancelled(error: unknown): boolean {
  const { name } = (error ?? {}) as { name?: unknown }
  return name === 'AbortError' || name === 'LeftError'
}

function answering(id: string, { chunks, error }: RecordedAnswer): Model {
  return {
    id,
    async *stream() {
      for (const chunk of chunks) yield fromJson(chunk) as ModelChunk
      if (error !== undefined) throw reviveError(error)
    },
  }
}

function failing(id: string, error: AlliumError): Model {
  return {
    id,
    // biome-ignore lint/correctness/useYield: it fails before its first chunk.
    async *stream() {
      throw error
    },
  }
}
