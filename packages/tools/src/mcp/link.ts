import { AlliumError, followSignal } from '@allium/core'
import type { CallToolResult, Client, PriorDiscovery, Tool } from '@modelcontextprotocol/client'
import type { Caller } from './callers.ts'
import { clientFor } from './client.ts'
import type { LinkSetup } from './link-setup.ts'
import type { InputNeeded } from './question.ts'
import { RunningCalls } from './running-calls.ts'
import { loadSdk, type Sdk } from './sdk.ts'
import { endpointOf, isHttp } from './server.ts'
import { tooLargeCode } from './too-large.ts'
import { ToolCalls } from './tool-calls.ts'
import { ToolListing } from './tool-listing.ts'
import { type Route, routeTo } from './transport.ts'

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
  readonly #running: RunningCalls
  readonly #listing: ToolListing
  readonly #calls: ToolCalls
  #check: Promise<void> | undefined
  #receivedTooMuch = false

  /** @throws AlliumError `mcp.unreachable`, `mcp.not_installed` */
  static async to(setup: LinkSetup, signal: AbortSignal, known?: PriorDiscovery): Promise<Link> {
    const sdk = await loadSdk()
    const stderrLines: string[] = []
    const route = await routeTo(setup, sdk, (line) => {
      stderrLines.push(setup.secrets.hide(line))
      if (stderrLines.length > 5) stderrLines.shift()
      setup.logger.debug?.(`MCP server "${setup.name}": ${stderrLines.at(-1)}`)
    })
    const link = new Link(setup, sdk, route)
    try {
      await link.#handshake(signal, known)
    } catch (cause) {
      await link.close()
      // Some servers of an earlier revision fail when they are asked for theirs.
      const isUnknown = setup.revision === undefined && (link.statusOf(cause) ?? 0) >= 500
      if (isUnknown) return Link.to({ ...setup, revision: '2025-11-25' }, signal)
      throw link.unauthorizedError(cause) ?? link.tooLargeError(cause) ?? unreachable(setup, cause, stderrLines)
    }
    return link
  }

  private constructor(setup: LinkSetup, sdk: Sdk, route: Route) {
    this.#setup = setup
    this.#sdk = sdk
    this.#route = route
    this.#running = new RunningCalls(setup, sdk, route)
    this.#client = clientFor(setup, sdk, this.#running)
    this.#listing = new ToolListing(setup, this.#client, () => this.open)
    this.#calls = new ToolCalls(setup, sdk, this.#client, this.#listing)
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

  /** Returns the revision of a program, which would be started once more to ask for it. A server at a URL may change its own. */
  get known(): PriorDiscovery | undefined {
    if (isHttp(this.#setup.server)) return undefined
    const discover = this.#client.getDiscoverResult()
    return discover === undefined ? { kind: 'legacy' } : { kind: 'modern', discover }
  }

  /** Sends a call. An abort is sent to the server with a neutral message. */
  async call(tool: Tool, args: Record<string, unknown>, caller: Caller): Promise<CallToolResult | InputNeeded> {
    const { signal } = caller
    const cancel = new AbortController()
    if (signal.aborted) throw signal.reason
    const release = followSignal(signal, () => cancel.abort('The call was cancelled.'))
    const end = this.#running.add(caller)
    try {
      const headers = this.#route.headersFor?.(caller)
      const options = { signal: cancel.signal, timeout: noTimeout, ...(headers && { headers }) }
      return await this.#calls.send(tool, args, caller.goOn, options)
    } finally {
      release()
      end()
    }
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
      const options = { timeout: 5_000 }
      await (this.#client.getProtocolEra() === 'modern' ? this.#client.discover(options) : this.#client.ping(options))
    } catch (error) {
      if (!this.isServerError(error)) await this.#client.close().catch(ignore)
    }
  }

  /** Whether an error is the server's own JSON-RPC response. */
  isServerError(error: unknown): boolean {
    return error instanceof this.#sdk.ProtocolError && this.open
  }

  /** Returns the error for a message that is too large, if that was the cause. */
  tooLargeError(error: unknown): AlliumError | undefined {
    if (!this.#receivedTooMuch && !(error instanceof this.#sdk.ProtocolError && error.code === tooLargeCode))
      return undefined
    const { name, maxBytes } = this.#setup
    const message = `The MCP server "${name}" sent a message of more than ${maxBytes} bytes, which was not read. Ask for less, or set the option maxBytes.`
    return new AlliumError('mcp.too_large', message, { expose: true, details: { server: name, maxBytes } })
  }

  /** Returns the HTTP status with which the server or a proxy rejected a request. */
  statusOf(error: unknown): number | undefined {
    return error instanceof this.#sdk.SdkHttpError ? error.status : undefined
  }

  /** Returns the error for a missing authorization, if that was the cause. */
  unauthorizedError(error: unknown): AlliumError | undefined {
    const { UnauthorizedError, InsufficientScopeError } = this.#sdk
    if (!(error instanceof UnauthorizedError || error instanceof InsufficientScopeError)) return undefined
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

  async #handshake(signal: AbortSignal, known: PriorDiscovery | undefined): Promise<void> {
    const { connectTimeout } = this.#setup
    const cancel = new AbortController()
    // Not the signal itself, because the SDK never removes its listener.
    const release = followSignal(signal, (reason) => {
      cancel.abort(reason)
      // The SDK does not hear the signal while it asks for the revision.
      void this.#route.transport.close()
    })
    try {
      const options = { timeout: connectTimeout, signal: cancel.signal, ...(known && { prior: known }) }
      await this.#client.connect(this.#route.transport, options)
    } finally {
      release()
    }
    await this.#listing.begin()
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

function unreachable(
  { name, server, secrets }: LinkSetup,
  cause: unknown,
  stderrLines: readonly string[],
): AlliumError {
  const stderrText = stderrLines.length === 0 ? '' : ` It said: ${stderrLines.join(' · ').slice(0, 500)}`
  const fix = isHttp(server)
    ? 'Check its URL and headers, and that it supports revision 2025-11-25 or 2026-07-28 of MCP.'
    : 'Check that its program is installed, and check its environment variables.'
  return new AlliumError(
    'mcp.unreachable',
    `The MCP server "${name}" (${endpointOf(server)}) cannot be reached: ${secrets.describe(cause)}.${stderrText} ${fix}`,
    { cause: secrets.redactError(cause), details: { server: name } },
  )
}

function ignore(): void {}
