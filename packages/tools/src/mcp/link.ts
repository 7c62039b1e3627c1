import { AlliumError, type Clock, followSignal, type JsonSchema, type Logger } from '@allium/core'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import type { CallToolResult, ElicitRequest, Tool } from '@modelcontextprotocol/sdk/types.js'
import type { Question, Reply } from './dialogue.ts'
import type { SamplingAnswer, SamplingRequest } from './sampling.ts'
import { jsonSchemaValidator } from './schema.ts'
import { loadSdk, type Sdk } from './sdk.ts'
import type { Secrets } from './secrets.ts'
import { endpointOf, isHttp, type McpServer } from './server.ts'
import { tooLargeCode } from './too-large.ts'
import { type Route, routeTo } from './transport.ts'

/** The parts of the layer that a link needs. */
export interface LinkSetup {
  readonly name: string
  readonly server: McpServer
  readonly secrets: Secrets
  readonly connectTimeout: number
  /** The maximum size of one message of the server in bytes. */
  readonly maxBytes: number
  readonly logger: Logger
  readonly clock: Clock
  /** Whether the server may ask questions during a call. */
  readonly canElicit: boolean
  /** Whether the server may request model answers during a call. */
  readonly canSample: boolean
  /** Returns the principal of the connection; undefined for the agent's own. */
  owner(): unknown
  /** Receives the server's tools after connecting and when they change. If undefined, tools are not listed. */
  readonly onTools: ((tools: readonly Tool[]) => void) | undefined
}

/** The caller of a call, with its abort signal. */
export interface Caller {
  readonly signal: AbortSignal
  readonly principal: unknown
  /** Answers the server's questions during the call; if missing, they are declined. */
  ask?(question: Question): Promise<Reply>
  /** Answers with the model; if missing, the server's request is rejected. */
  sample?(request: SamplingRequest): Promise<SamplingAnswer>
}

/** One connection to a server, from its handshake until it drops or is closed. It does not reconnect. */
export class Link {
  /** Called once when the connection is gone. */
  onclose: (() => void) | undefined
  open = true
  readonly #setup: LinkSetup
  readonly #sdk: Sdk
  readonly #client: Client
  readonly #route: Route
  readonly #closed: Promise<void>
  readonly #calls = new Set<{ readonly caller: Caller; isAwaitingReply: boolean }>()
  #check: Promise<void> | undefined
  #relisting = false
  #receivedTooMuch = false
  /** Whether the tools have changed since the last listing began. */
  #toolsChanged = false

  /** @throws AlliumError `mcp.unreachable`, `mcp.not_installed` */
  static async to(setup: LinkSetup, signal: AbortSignal): Promise<Link> {
    const sdk = await loadSdk()
    const stderrLines: string[] = []
    const route = await routeTo(setup, sdk, (line) => {
      stderrLines.push(setup.secrets.hide(line))
      if (stderrLines.length > 5) stderrLines.shift()
      setup.logger.debug?.(`MCP server "${setup.name}": ${stderrLines.at(-1)}`)
    })
    const link = new Link(setup, sdk, route)
    try {
      await link.#handshake(signal)
    } catch (cause) {
      await link.close()
      throw link.unauthorizedError(cause) ?? link.tooLargeError(cause) ?? unreachable(setup, cause, stderrLines)
    }
    return link
  }

  private constructor(setup: LinkSetup, sdk: Sdk, route: Route) {
    this.#setup = setup
    this.#sdk = sdk
    this.#route = route
    this.#client = new sdk.Client(
      { name: 'allium', version: '0.1.0' },
      {
        capabilities: {
          ...(setup.canElicit && { elicitation: { form: {} } }),
          ...(setup.canSample && { sampling: {} }),
        },
        jsonSchemaValidator,
      },
    )
    if (setup.canSample)
      this.#client.setRequestHandler(sdk.CreateMessageRequestSchema, ({ params }, { requestId }) =>
        this.#onSample(params, requestId),
      )
    if (setup.canElicit)
      this.#client.setRequestHandler(sdk.ElicitRequestSchema, ({ params }, { requestId }) =>
        this.#onElicit(params, requestId),
      )
    this.#closed = new Promise((resolve) => {
      this.#client.onclose = () => {
        resolve()
        if (!this.open) return
        this.open = false
        this.onclose?.()
      }
    })
    this.#client.onerror = (error) => {
      // The SDK raises this error and then closes the connection to a child process.
      if (/^ReadBuffer exceeded/.test(error.message)) this.#receivedTooMuch = true
      else if (isHttp(setup.server)) void this.check()
    }
  }

  /** Sends a call. An abort is sent to the server with a neutral message. */
  async call(name: string, args: Record<string, unknown>, caller: Caller): Promise<CallToolResult> {
    const { signal } = caller
    const cancel = new AbortController()
    if (signal.aborted) throw signal.reason
    const release = followSignal(signal, () => cancel.abort('The call was cancelled.'))
    const running = { caller, isAwaitingReply: false }
    this.#calls.add(running)
    try {
      const params = { name, arguments: args }
      const options = { signal: cancel.signal, timeout: noTimeout }
      const send = () => this.#client.request({ method: 'tools/call', params }, this.#sdk.CallToolResultSchema, options)
      return await (this.#route.sendFor?.(caller, send) ?? send())
    } finally {
      release()
      this.#calls.delete(running)
    }
  }

  /** A question belongs to the call whose response contains it. If that is unknown, it belongs to the only call that it can be from. */
  async #onElicit(params: ElicitRequest['params'], id: unknown): Promise<Reply> {
    const { name, logger } = this.#setup
    const free = [...this.#calls].filter(({ isAwaitingReply }) => !isAwaitingReply)
    const askingCaller = this.#route.callerOf?.(id)
    const ownCall =
      [...this.#calls].find(({ caller }) => caller === askingCaller) ?? (free.length === 1 ? free[0] : undefined)
    const question = questionOf(params)
    if (ownCall?.caller.ask === undefined || question === undefined) {
      logger.warn(
        `A question (elicitation) of the MCP server "${name}" is declined: ${question === undefined ? 'it is too long' : 'it cannot be matched to a call'}.`,
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
  async #onSample(params: SamplingRequest, id: unknown): Promise<SamplingAnswer> {
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
    throw new this.#sdk.McpError(refusedByClient, 'The client has refused the request.')
  }

  /** Pings the server and closes the link if it does not answer, because an HTTP connection cannot drop by itself. */
  check(): Promise<void> {
    if (!this.open) return Promise.resolve()
    this.#check ??= this.#ping().finally(() => (this.#check = undefined))
    return this.#check
  }

  /** Resolves once no check is running, because a check might close the link during a call. */
  async whenChecked(): Promise<void> {
    await this.#check
  }

  async #ping(): Promise<void> {
    try {
      await this.#client.ping({ timeout: 5_000 })
    } catch (error) {
      if (!this.isServerError(error)) await this.#client.close().catch(ignore)
    }
  }

  /** Whether an error is the server's own JSON-RPC response. */
  isServerError(error: unknown): boolean {
    const { McpError, ErrorCode } = this.#sdk
    if (!(error instanceof McpError) || !this.open) return false
    return error.code !== ErrorCode.RequestTimeout && error.code !== ErrorCode.ConnectionClosed
  }

  /** Returns the error for a message that is too large, if that was the cause. */
  tooLargeError(error: unknown): AlliumError | undefined {
    if (!this.#receivedTooMuch && !(error instanceof this.#sdk.McpError && error.code === tooLargeCode))
      return undefined
    const { name, maxBytes } = this.#setup
    const message = `The MCP server "${name}" sent a message of more than ${maxBytes} bytes, which was not read. Ask for less, or set the option maxBytes.`
    return new AlliumError('mcp.too_large', message, { expose: true, details: { server: name, maxBytes } })
  }

  /** Returns the HTTP status with which the server or a proxy rejected a request. */
  statusOf(error: unknown): number | undefined {
    return error instanceof this.#sdk.StreamableHTTPError && error.code !== -1 ? error.code : undefined
  }

  /** Returns the error for a missing authorization, if that was the cause. */
  unauthorizedError(error: unknown): AlliumError | undefined {
    if (!(error instanceof this.#sdk.UnauthorizedError)) return undefined
    const { name, secrets } = this.#setup
    const message = `The MCP server "${name}" wants an authorization that it did not get: ${secrets.describe(error)}`
    return new AlliumError('mcp.unauthorized', message, {
      cause: secrets.redactError(error),
      expose: true,
      details: { server: name },
    })
  }

  /** Closes the connection and waits until the child process has ended. */
  async close(): Promise<void> {
    this.open = false
    const { farewell, pid } = this.#route
    if (farewell !== undefined) await this.#waitAtMost(1_000, farewell())
    await this.#client.close().catch(ignore)
    if (pid?.() !== undefined) await this.#waitAtMost(5_000, this.#closed)
  }

  async #handshake(signal: AbortSignal): Promise<void> {
    const { connectTimeout, onTools } = this.#setup
    const cancel = new AbortController()
    // Not the signal itself, because the SDK never removes its listener.
    const release = followSignal(signal, (reason) => cancel.abort(reason))
    try {
      await this.#client.connect(this.#route.transport, { timeout: connectTimeout, signal: cancel.signal })
    } finally {
      release()
    }
    if (onTools === undefined) return
    this.#client.setNotificationHandler(this.#sdk.ToolListChangedNotificationSchema, () => this.#relist())
    onTools(await this.#list())
  }

  async #list(): Promise<Tool[]> {
    const tools: Tool[] = []
    if (this.#client.getServerCapabilities()?.tools === undefined) return tools
    let cursor: string | undefined
    let remaining = this.#setup.maxBytes
    for (let page = 0; page < maxPages; page++) {
      const request = { method: 'tools/list' as const, ...(cursor !== undefined && { params: { cursor } }) }
      const options = { timeout: this.#setup.connectTimeout }
      const listed = await this.#client.request(request, this.#sdk.ListToolsResultSchema, options)
      remaining -= JSON.stringify(listed.tools).length
      if (remaining < 0 || tools.length + listed.tools.length > maxTools) return this.#limitTools(tools, listed.tools)
      tools.push(...listed.tools)
      cursor = listed.nextCursor
      if (cursor === undefined) return tools
    }
    return this.#limitTools(tools, [])
  }

  /** Returns the tools up to the limits, including part of the page that exceeds them. */
  #limitTools(tools: readonly Tool[], page: readonly Tool[]): Tool[] {
    const { name, logger, maxBytes } = this.#setup
    const all = [...tools, ...page.slice(0, Math.max(0, maxTools - tools.length))]
    const listedTools = JSON.stringify(all).length > maxBytes ? [...tools] : all
    logger.warn(
      `The MCP server "${name}" lists more than ${maxTools} tools, ${maxBytes} bytes or ${maxPages} pages: the agent gets the first ${listedTools.length} tools.`,
    )
    return listedTools
  }

  /** Runs one listing at a time with a pause after each, because a server may send any number of change notifications. */
  async #relist(): Promise<void> {
    this.#toolsChanged = true
    if (this.#relisting) return
    this.#relisting = true
    while (this.#toolsChanged && this.open) {
      this.#toolsChanged = false
      await this.#refreshTools()
      await this.#pause(relistDelay)
    }
    this.#relisting = false
  }

  async #refreshTools(): Promise<void> {
    const { name, logger, secrets, onTools } = this.#setup
    try {
      const tools = await this.#list()
      if (this.open) onTools?.(tools)
    } catch (error) {
      if (this.open)
        logger.warn(`The changed tools of the MCP server "${name}" cannot be listed: ${secrets.describe(error)}`)
    }
  }

  /** Does not keep the process alive. */
  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer: { unref?(): void } = setTimeout(resolve, ms)
      timer.unref?.()
    })
  }

  /** Waits for a promise, at most this long. */
  async #waitAtMost(ms: number, promise: Promise<unknown>): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const timedOut = new Promise((resolve) => (timer = setTimeout(resolve, ms)))
    await Promise.race([promise.catch(ignore), timedOut])
    clearTimeout(timer)
  }
}

/** The agent's own clock ends a call; the SDK's timer would be redundant. */
const noTimeout = 2 ** 31 - 1
const maxPages = 100
const maxTools = 1_000
/** The code from the MCP specification of sampling. */
const refusedByClient = -1
const maxQuestionLength = 100_000
const relistDelay = 1_000

/** Returns undefined for a question that must not be stored with a session. */
function questionOf(params: ElicitRequest['params']): Question | undefined {
  if (!('requestedSchema' in params)) return undefined
  const question = { message: params.message, schema: { ...params.requestedSchema } as JsonSchema }
  return JSON.stringify(question).length > maxQuestionLength ? undefined : question
}

function unreachable(
  { name, server, secrets }: LinkSetup,
  cause: unknown,
  stderrLines: readonly string[],
): AlliumError {
  const stderrText = stderrLines.length === 0 ? '' : ` It said: ${stderrLines.join(' · ').slice(0, 500)}`
  const fix = isHttp(server)
    ? 'Check its URL and headers.'
    : 'Check that its program is installed, and check its environment variables.'
  return new AlliumError(
    'mcp.unreachable',
    `The MCP server "${name}" (${endpointOf(server)}) cannot be reached: ${secrets.describe(cause)}.${stderrText} ${fix}`,
    { cause: secrets.redactError(cause), details: { server: name } },
  )
}

function ignore(): void {}
