import { AlliumError } from '../errors/allium-error.ts'
import { describe } from '../errors/describe.ts'
import type { ToolInputDelta, ToolInputEnd, ToolInputStart } from '../model/chunk.ts'
import type { ToolCall } from '../model/response.ts'
import { parseArgs } from '../model/tool-args.ts'

/** A tool call, built from its chunks. */
export interface ToolInput {
  start: ToolInputStart
  json: string
  ended: boolean
}

/** The tool calls of an answer. Checks that each has one start, then its deltas, then one end. */
export class ToolInputs {
  readonly #who: string
  readonly #inputs = new Map<string, ToolInput>()
  /** The one that most deltas continue. */
  #last: ToolInput | undefined

  /** @param who named in the error when chunks arrive out of order */
  constructor(who: string) {
    this.#who = who
  }

  has(callId: string): boolean {
    return this.#inputs.has(callId)
  }

  start(start: ToolInputStart): ToolInput {
    if (this.has(start.callId)) throw this.#disorder(`sent a second tool-input-start for ${describe(start.callId)}`)
    const input = { start, json: '', ended: false }
    this.#inputs.set(start.callId, input)
    this.#last = input
    return input
  }

  extend({ callId, delta }: ToolInputDelta): void {
    this.#open(callId, 'a tool-input-delta').json += delta
  }

  end({ callId, providerExecuted, providerMetadata }: ToolInputEnd): void {
    const input = this.#open(callId, 'a tool-input-end')
    input.ended = true
    if (providerExecuted === true) input.start = { ...input.start, providerExecuted }
    if (providerMetadata !== undefined)
      input.start = { ...input.start, providerMetadata: { ...input.start.providerMetadata, ...providerMetadata } }
  }

  /** Throws if one has not ended. */
  close(): void {
    for (const { start, ended } of this.#inputs.values())
      if (!ended) throw this.#disorder(`left the tool input ${describe(start.callId)} without its tool-input-end`)
  }

  /** Returns the calls. Parses their arguments on every call. */
  calls(): ToolCall[] {
    return Array.from(this.#inputs.values(), toCall)
  }

  #open(callId: string, what: string): ToolInput {
    const input = this.#last?.start.callId === callId ? this.#last : this.#inputs.get(callId)
    if (input === undefined) throw this.#disorder(`sent ${what} for ${describe(callId)} before its tool-input-start`)
    if (input.ended) throw this.#disorder(`sent ${what} for ${describe(callId)} after its tool-input-end`)
    return input
  }

  #disorder(what: string): AlliumError {
    return new AlliumError(
      'stream.tool_order',
      `${this.#who} ${what}. Each tool input is one start, its deltas, one end.`,
    )
  }
}

function toCall({ start, json }: ToolInput): ToolCall {
  const { callId, name, providerExecuted, approvalRequest } = start
  const call: ToolCall = { callId, name, args: {}, ...parseArgs(json) }
  if (approvalRequest !== undefined) call.approvalRequest = approvalRequest
  if (providerExecuted === true) call.providerExecuted = true
  return call
}
