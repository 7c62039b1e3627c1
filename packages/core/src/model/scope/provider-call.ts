import { AbandonedError } from '../../errors/abort-error.ts'
import { isAlliumError } from '../../errors/allium-error.ts'
import { watch } from '../../errors/thenable.ts'
import { withoutApprovals } from '../../messages/calls.ts'
import { cleanUsage, type Usage } from '../../messages/usage.ts'
import { isOpen } from '../../onion/attempt.ts'
import { fail, succeed, whenDone } from '../../onion/outcome.ts'
import type { Emit } from '../../ports/journal.ts'
import { resolveModel } from '../../session/scope/resolve-model.ts'
import { Assembly } from '../../stream/assembly.ts'
import { streamedBy } from '../../stream/streamed.ts'
import { Counted } from '../../turn/physical-call.ts'
import type { ContentChunk, FinishChunk } from '../chunk.ts'
import { isModel, type Model, modelId } from '../model.ts'
import { addFinish, type ModelResponse } from '../response.ts'
import type { ModelAttempt } from './context.ts'
import { ProviderRequest, Reading, type Taker } from './reading.ts'
import { UniqueCallIds } from './unique-call-ids.ts'

/** The core of the model scope: one provider call, through the journal, into the stream. */
export function callProvider(core: ModelAttempt): void {
  const { model } = core.$fields
  core.$call.model = modelId(model)
  if (isModel(model)) return new ProviderCall(core, model).run()
  whenDone(core, resolveModel(core.$turn.session, model), (resolved) => new ProviderCall(core, resolved).run())
}

/** One provider call. Its chunks go outward, and its finish makes the response. */
class ProviderCall {
  readonly #core: ModelAttempt
  readonly #model: Model
  readonly #assembly: Assembly
  #ids: UniqueCallIds | undefined
  #reading: Reading | undefined
  #request: ProviderRequest | undefined
  #counted: Counted | undefined
  /** Whether a chunk arrived. */
  #came = false

  constructor(core: ModelAttempt, model: Model) {
    this.#core = core
    this.#model = model
    this.#assembly = new Assembly(model.id)
    core.$work = this
  }

  run(): void {
    const { $call: call, $number } = this.#core
    const { steps } = call.turn
    if (steps === undefined) return this.#read(this)
    const step = {
      work: (emit: Emit<ContentChunk>) => this.#step(emit),
      // Unlike a stream that is read, a journal goes on when the attempt is over.
      emit: (chunk: ContentChunk) => (isOpen(this.#core) ? this.take(chunk) : undefined),
      request: () => requestOf(this.#core),
    }
    watch(
      steps.run(this.#core, `model:${call.callIndex}:${$number}`, step),
      (finish) => isOpen(this.#core) && this.finished(finish as FinishChunk),
      (error) => this.#stepFailed(error),
    )
  }

  /** Sends a chunk outward. Returns a promise if the sender has to wait before the next one. */
  take(chunk: ContentChunk): void | PromiseLike<void> {
    const core = this.#core
    this.#came = true
    let named = chunk
    if ('callId' in chunk) {
      this.#ids ??= new UniqueCallIds(core.$call.turn.session, this.#assembly)
      named = this.#ids.name(chunk)
    }
    this.#assembly.add(named)
    return core.$sink?.push(named)
  }
  finished(finish: FinishChunk): void {
    try {
      succeed(this.#core, this.#respond(finish))
    } catch (error) {
      this.failed(error)
    }
  }
  failed(error: unknown): void {
    this.#close(reportedUsage(error))
    fail(this.#core, error)
  }
  /** Cancels the call, because the attempt was abandoned. */
  abandon(reason: unknown): void {
    this.#close()
    this.#reading?.abandon(reason)
  }

  #step(emit: Emit<ContentChunk>): Promise<FinishChunk> {
    // The attempt was over before the journal started the step.
    if (!isOpen(this.#core)) return Promise.reject(this.#abandonedReason(this.#core.$outcome))
    return new Promise((finished, failed) =>
      this.#read({
        take: emit,
        finished,
        failed: (error) => {
          this.#close(reportedUsage(error))
          failed(isOpen(this.#core) ? error : this.#abandonedReason(error))
        },
      }),
    )
  }

  #stepFailed(error: unknown): void {
    // A replayed call may have failed before its first chunk, so it is not counted yet.
    if (isOpen(this.#core)) this.#count()
    if (error instanceof AbandonedError) void this.#core.$turn.steps?.abandonAgain(this.#core, error)
    else this.failed(error)
  }
  #abandonedReason(reason: unknown): unknown {
    return this.#core.$turn.steps?.abandonedReason(this.#core, reason)
  }

  #read(taker: Taker): void {
    const request = new ProviderRequest(this.#core)
    this.#request = request
    this.#reading = new Reading(this.#model, request, taker)
    this.#count()
    this.#reading.begin()
  }

  /** Counts the call, once. It has started or is replayed. */
  #count(): Counted {
    if (this.#counted !== undefined) return this.#counted
    this.#counted = new Counted(this.#core, this.#model)
    this.#core.$call.physical.push(this.#counted)
    return this.#counted
  }
  /** Ends the call and counts its usage. */
  #close(reported?: Partial<Usage>): void {
    if (this.#counted === undefined && !this.#came) return
    const sent = () => this.#request ?? new ProviderRequest(this.#core)
    this.#count().close(reported, this.#came ? this.#assembly : undefined, sent)
  }

  #respond(finish: FinishChunk): ModelResponse {
    const assembly = this.#assembly
    const counted = this.#count()
    this.#close(finish.usage ?? {})
    assembly.close()
    this.#core.$streamed = streamedBy(assembly)
    const usage = { ...counted.usage }
    // Not a spread of the content: on Node 20, a copy that gets other keys takes 2 µs.
    const { text, toolCalls, message, reasoning } = assembly.content()
    const { id: model } = this.#model
    const response: ModelResponse = { text, toolCalls, message, finishReason: finish.reason, usage, model }
    if (reasoning !== undefined) response.reasoning = reasoning
    addFinish(response, finish)
    return response
  }
}

/** Returns the usage that a provider reported with a failed call. */
function reportedUsage(error: unknown): Partial<Usage> | undefined {
  if (!isAlliumError(error, 'model.failed')) return undefined
  const reported = cleanUsage(error.details.usage as Partial<Usage> | undefined, 1)
  return reported.inputTokens + reported.outputTokens > 0 ? reported : undefined
}

/** Returns the request of a model call for the journal: the model, and the conversation as it is in the history, before layers change it. */
function requestOf({ $call: { model }, $fields, $turn: turn }: ModelAttempt) {
  const { settings, toolDefs, toolChoice, responseFormat } = $fields
  const history = turn.session.history.items.map(withoutApprovals)
  const given = { settings, toolChoice, responseFormat }
  return {
    names: { model },
    must: { history },
    may: { settings: given, 'tool definitions': toolDefs, instructions: turn.system ?? null },
  }
}
