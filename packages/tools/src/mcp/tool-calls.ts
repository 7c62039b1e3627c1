import { delay } from '@allium/core'
import type { CallToolResult, Client, RequestOptions, Tool } from '@modelcontextprotocol/client'
import { readInput } from './input.ts'
import type { LinkSetup } from './link-setup.ts'
import { taskOf } from './messages.ts'
import type { Continuation, InputNeeded } from './question.ts'
import type { Sdk } from './sdk.ts'
import type { Tasks } from './tasks.ts'
import type { ToolListing } from './tool-listing.ts'
import { traceMeta } from './trace.ts'

/** Sends the calls of one connection in the revision of its server. */
export class ToolCalls {
  readonly #setup: LinkSetup
  readonly #sdk: Sdk
  readonly #client: Client
  readonly #listing: ToolListing

  constructor(setup: LinkSetup, sdk: Sdk, client: Client, listing: ToolListing) {
    this.#setup = setup
    this.#sdk = sdk
    this.#client = client
    this.#listing = listing
  }

  /** @param tool its definition when the agent began */
  async send(
    tool: Tool,
    args: Record<string, unknown>,
    goOn: Continuation | undefined,
    options: RequestOptions,
  ): Promise<CallToolResult | InputNeeded> {
    const trace = await traceMeta()
    const params = { name: tool.name, arguments: args, ...(trace && { _meta: trace }) }
    if (this.#client.getProtocolEra() === 'modern') {
      const result = await this.#sendModern(tool, params, goOn, options)
      return result.resultType === 'input_required' ? readInput(result, this.#sdk) : (result as CallToolResult)
    }
    if (!this.#runsAsTask(tool)) return this.#client.request({ method: 'tools/call', params }, options)
    return (await this.#tasks()).call(params, options)
  }

  async #sendModern(
    tool: Tool,
    params: { name: string; arguments: Record<string, unknown> },
    goOn: Continuation | undefined,
    options: RequestOptions,
  ): ReturnType<Tasks['goOn']> {
    if (goOn?.taskId !== undefined) return (await this.#tasks()).goOn(goOn.taskId, goOn, options)
    const given = goOn && { inputResponses: goOn.inputResponses, ...withState(goOn) }
    const call = () =>
      this.#client.callTool(
        { ...params, ...given },
        { ...options, allowInputRequired: true, ...this.#definitionOf(tool) },
      )
    const result = await call().catch(async (error: unknown) => {
      if (!(error instanceof this.#sdk.ProtocolError) || error.code !== headerMismatch) throw error
      // The tool asks for other arguments as headers than before.
      await this.#listing.refresh()
      return call()
    })
    const task = taskOf(result)
    return task === undefined ? result : (await this.#tasks()).wait(task, options)
  }

  /** The definition from which arguments are sent as headers. Results are checked by Allium. */
  #definitionOf(tool: Tool): { toolDefinition: Tool } {
    const { outputSchema: _, ...toolDefinition } = this.#listing.get(tool.name) ?? tool
    return { toolDefinition }
  }

  #runsAsTask(tool: Tool): boolean {
    const { execution } = this.#listing.get(tool.name) ?? tool
    return execution?.taskSupport === 'required'
  }

  /** Few servers have tasks. */
  async #tasks(): Promise<Tasks> {
    const loaded = await import('./tasks.ts')
    return new loaded.Tasks(this.#client, this.#sdk, (ms, signal) => delay(ms, this.#setup.clock, signal))
  }
}

function withState({ requestState }: Continuation): { requestState?: string } {
  return requestState === undefined ? {} : { requestState }
}

const headerMismatch = -32_020
