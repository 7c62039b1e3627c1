import type { Model, ModelChunk, ModelRequest } from '@allium/core'
import { checkOptions, setOrderRules } from '@allium/core/internal'
import { orderRules } from '@allium/shared/order'
import { unconsumed, unexpectedCall } from './script-error.ts'
import { checkReply, play, type ScriptedStep } from './step.ts'

// Tests of a pack find layers in a wrong order without `allium`, too.
setOrderRules(orderRules)

/** A request as it was at the call: its data are copies; its signal is the live one, and not enumerable. */
export interface RecordedRequest extends ModelRequest {}

export interface ScriptedModel extends Model {
  /** Every request so far, in order. */
  readonly requests: readonly RecordedRequest[]
  /** The number of calls so far, including unexpected ones. */
  readonly calls: number
  /** The number of streams that have ended, were truncated, threw, or were closed by their reader. */
  readonly closed: number
  /** Throws unless every step was used. @throws AlliumError `test.script` */
  done(): void
}

/**
 * Creates a model that answers from a script, one step per call, and records its requests. It implements the real `Model` port, so
 * layers cannot distinguish it. A call beyond the script fails with `test.script`.
 *
 * @example
 * const model = scriptedModel([{ toolCalls: [{ name: 'add', args: { a: 1 } }] }, 'The sum is 1.'])
 * const { text } = await new Agent({ model, tools: [add] }).run('Add 1')
 * model.done()
 */
export function scriptedModel(steps: readonly ScriptedStep[], options: { id?: string } = {}): ScriptedModel {
  checkOptions(options, { id: true }, 'scriptedModel()', 'test.script')
  const { id = 'scripted/model' } = options
  for (const step of steps) if (typeof step !== 'function') checkReply(step)
  const requests: RecordedRequest[] = []
  let closed = 0
  let callIds = 0
  const nextId = () => `call-${++callIds}`

  async function* answer(request: ModelRequest, index: number): AsyncGenerator<ModelChunk> {
    try {
      const step = steps[index]
      if (step === undefined) throw unexpectedCall(id, steps, request)
      yield* play(typeof step === 'function' ? await step(request, index) : step, request, nextId)
    } finally {
      closed++
    }
  }

  return {
    id,
    requests,
    get calls() {
      return requests.length
    },
    get closed() {
      return closed
    },
    stream: (request) => answer(request, requests.push(record(request)) - 1),
    done() {
      if (requests.length < steps.length) throw unconsumed(id, steps, requests.length, requests.at(-1))
    },
  }
}

/** The signal stays a getter, because a request creates it on access, and it is ignored when requests are compared. */
function record(request: ModelRequest): RecordedRequest {
  const { messages, tools, toolChoice, settings, responseFormat, principal } = request
  const data = { ...copy({ messages, tools, toolChoice, settings, responseFormat }), principal }
  return Object.defineProperty(data, 'signal', { get: () => request.signal }) as RecordedRequest
}

/** Copies plain objects and arrays; bytes, URLs and the like are shared. */
function copy<T>(value: T): T {
  if (Array.isArray(value)) return value.map(copy) as T
  if (typeof value !== 'object' || value === null) return value
  if (Object.getPrototypeOf(value) !== Object.prototype && Object.getPrototypeOf(value) !== null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, copy(item)])) as T
}
