import type { ElicitRequest } from '@modelcontextprotocol/client'
import type { Caller } from './callers.ts'
import type { LinkSetup } from './link-setup.ts'
import { isStorable, questionOf, type Reply } from './question.ts'
import type { SamplingAnswer, SamplingRequest } from './sampling.ts'
import type { Sdk } from './sdk.ts'
import type { Route } from './transport.ts'

interface RunningCall {
  readonly caller: Caller
  isAwaitingReply: boolean
}

/** The running calls of one connection, and the questions and sampling requests that the server sends during them. */
export class RunningCalls {
  readonly #setup: LinkSetup
  readonly #sdk: Sdk
  readonly #route: Route
  readonly #calls = new Set<RunningCall>()

  constructor(setup: LinkSetup, sdk: Sdk, route: Route) {
    this.#setup = setup
    this.#sdk = sdk
    this.#route = route
  }

  /** Adds a call and returns the function that removes it. */
  add(caller: Caller): () => void {
    const call = { caller, isAwaitingReply: false }
    this.#calls.add(call)
    return () => void this.#calls.delete(call)
  }

  /** A question belongs to the call whose response contains it. If that is unknown, it belongs to the only call that it can be from. */
  async elicit(params: ElicitRequest['params'], id: unknown): Promise<Reply> {
    const { name, logger } = this.#setup
    const free = [...this.#calls].filter(({ isAwaitingReply }) => !isAwaitingReply)
    const askingCaller = this.#route.callerOf?.(id)
    const ownCall =
      [...this.#calls].find(({ caller }) => caller === askingCaller) ?? (free.length === 1 ? free[0] : undefined)
    const question = 'requestedSchema' in params ? questionOf(params) : undefined
    if (ownCall?.caller.ask === undefined || question === undefined || !isStorable(question)) {
      logger.warn(
        `A question (elicitation) of the MCP server "${name}" is declined: ${ownCall?.caller.ask === undefined ? 'it cannot be matched to a call' : 'it is too long'}.`,
      )
      return { action: 'decline' }
    }
    ownCall.isAwaitingReply = true
    try {
      return await ownCall.caller.ask(question)
    } finally {
      ownCall.isAwaitingReply = false
    }
  }

  /** On failure, the server only learns that there is no answer. */
  async sample(params: SamplingRequest, id: unknown): Promise<SamplingAnswer> {
    const { name, logger, secrets } = this.#setup
    const running = [...this.#calls]
    const askingCaller = this.#route.callerOf?.(id)
    const ownCall =
      running.find(({ caller }) => caller === askingCaller) ?? (running.length === 1 ? running[0] : undefined)
    try {
      if (ownCall?.caller.sample !== undefined) return await ownCall.caller.sample(params)
      logger.warn(
        `The MCP server "${name}" sent a sampling request that cannot be matched to a call, so it is refused.`,
      )
    } catch (error) {
      logger.warn(`A sampling request of the MCP server "${name}" failed: ${secrets.describe(error)}`)
    }
    throw new this.#sdk.ProtocolError(refusedByClient, 'The client has refused the request.')
  }
}

/** The code from the MCP specification of sampling. */
const refusedByClient = -1
