import { AlliumError, delay, isAlliumError } from '@allium/core'
import type { CallToolResult, Tool } from '@modelcontextprotocol/client'
import type { Caller } from './callers.ts'
import { Link } from './link.ts'
import type { LinkSetup } from './link-setup.ts'
import type { InputNeeded } from './question.ts'

export interface McpReconnectOptions {
  /** The maximum number of consecutive attempts; after that only a call tries again. @default 10 */
  attempts?: number | undefined
  /** The delay before the first attempt in milliseconds; it doubles for each further attempt. @default 500 */
  delay?: number | undefined
  /** The longest delay in milliseconds. @default 30_000 */
  maxDelay?: number | undefined
}

/** Keeps an agent connected to a server. A dropped link is replaced in the background and by the next call. */
export class Connection {
  readonly #setup: LinkSetup
  readonly #autoReconnect: boolean
  readonly #retry: Required<McpReconnectOptions>
  readonly #disposed = new AbortController()
  #link: Link | undefined
  #known: Link['known']
  #opening: Promise<Link> | undefined
  #reconnecting = false
  /** Drops and failed attempts since the last successful call. */
  #failures = 0

  /** @param reconnect with 'by calls alone' it does not reconnect or log in the background */
  constructor(setup: LinkSetup, reconnect: McpReconnectOptions | 'by calls alone' = {}) {
    const {
      attempts = 10,
      delay: firstDelay = 500,
      maxDelay = 30_000,
    } = reconnect === 'by calls alone' ? {} : reconnect
    this.#setup = setup
    this.#autoReconnect = reconnect !== 'by calls alone'
    this.#retry = { attempts, delay: firstDelay, maxDelay }
  }

  /** @throws AlliumError `mcp.unreachable`, `mcp.not_installed` */
  async open(): Promise<void> {
    await this.#reach()
  }

  /** @throws AlliumError `mcp.unreachable`, `mcp.lost`, `mcp.refused` */
  async call(tool: Tool, args: Record<string, unknown>, caller: Caller): Promise<CallToolResult | InputNeeded> {
    const { signal } = caller
    const link = await this.#linkForCall()
    try {
      return this.#succeeded(await link.call(tool, args, caller))
    } catch (error) {
      if (signal.aborted) throw signal.reason
      if (!wasNotDelivered(link, error)) throw this.#failure(link, error)
    }
    await link.close()
    this.#onDrop(link)
    const next = await this.#linkForCall()
    try {
      return this.#succeeded(await next.call(tool, args, caller))
    } catch (error) {
      if (signal.aborted) throw signal.reason
      throw this.#failure(next, error)
    }
  }

  async close(): Promise<void> {
    this.#disposed.abort(new Error('The agent is disposed.'))
    await this.#opening?.catch(() => undefined)
    await this.#link?.close()
    this.#link = undefined
  }

  /** Returns the link for a call. The model receives connection errors without their details. */
  async #linkForCall(): Promise<Link> {
    try {
      await this.#link?.whenChecked()
      return await this.#reach()
    } catch (cause) {
      if (needsUser(cause)) throw cause
      const { name } = this.#setup
      const message = `The MCP server "${name}" is not connected at the moment.`
      throw new AlliumError('mcp.unreachable', message, { cause, expose: true, details: { server: name } })
    }
  }

  #reach(): Promise<Link> {
    if (this.#link !== undefined) return Promise.resolve(this.#link)
    this.#opening ??= this.#open().finally(() => (this.#opening = undefined))
    return this.#opening
  }

  async #open(): Promise<Link> {
    this.#disposed.signal.throwIfAborted()
    const link = await Link.to(this.#setup, this.#disposed.signal, this.#known)
    this.#known = link.known
    if (this.#disposed.signal.aborted || !link.open) {
      await link.close()
      this.#disposed.signal.throwIfAborted()
      throw new AlliumError('mcp.unreachable', `The MCP server "${this.#setup.name}" closed the connection at once.`)
    }
    link.onclose = () => this.#onDrop(link)
    this.#link = link
    return link
  }

  #onDrop(link: Link): void {
    if (this.#link !== link || this.#disposed.signal.aborted) return
    this.#link = undefined
    if (!this.#autoReconnect) return
    this.#setup.logger.warn(`The connection to the MCP server "${this.#setup.name}" dropped. Reconnecting.`)
    void this.#reconnect()
  }

  async #reconnect(): Promise<void> {
    if (this.#reconnecting) return
    this.#reconnecting = true
    try {
      while (this.#link === undefined && this.#failures < this.#retry.attempts) await this.#tryReconnect()
    } catch {
      return // closed meanwhile
    } finally {
      this.#reconnecting = false
    }
    const { logger, name } = this.#setup
    if (this.#link === undefined)
      logger.error(`The MCP server "${name}" could not be reconnected. The next call of one of its tools tries again.`)
  }

  /** Waits and tries once. @throws when the connection is closed meanwhile */
  async #tryReconnect(): Promise<void> {
    const { delay: ms, maxDelay } = this.#retry
    const { clock, logger, name } = this.#setup
    // Idle, so that an undisposed agent does not keep the process alive for an unreachable server.
    await delay(Math.min(maxDelay, ms * 2 ** this.#failures++), clock, this.#disposed.signal, { idle: true })
    try {
      await this.#reach()
      logger.warn(`The MCP server "${name}" is connected again.`)
    } catch (error) {
      this.#disposed.signal.throwIfAborted()
      // Stops retrying, so that the user is not asked for authorization repeatedly.
      if (needsUser(error)) this.#failures = this.#retry.attempts
      logger.debug?.(`The MCP server "${name}" is still unreachable.`, { error })
    }
  }

  #succeeded<R>(result: R): R {
    this.#failures = 0
    return result
  }

  #failure(link: Link, error: unknown): AlliumError {
    const unauthorized = link.unauthorizedError(error)
    if (unauthorized !== undefined) return unauthorized
    const { name, secrets } = this.#setup
    const errorOptions = { cause: secrets.redactError(error), expose: true, details: { server: name } }
    const tooLarge = link.tooLargeError(error)
    if (tooLarge !== undefined) return tooLarge
    if (link.isServerError(error)) {
      this.#failures = 0
      return new AlliumError(
        'mcp.refused',
        `The MCP server "${name}" refused the call: ${secrets.describe(error)}`,
        errorOptions,
      )
    }
    const status = link.statusOf(error)
    if (status !== undefined)
      return new AlliumError(
        'mcp.refused',
        `The MCP server "${name}" answered with HTTP status ${status}.`,
        errorOptions,
      )
    if (isMalformed(error))
      return new AlliumError('mcp.refused', `The MCP server "${name}" sent something that is no result.`, errorOptions)
    void link.check()
    const unsure = 'It may have run, or not.'
    return new AlliumError('mcp.lost', `The MCP server "${name}" was lost during the call. ${unsure}`, errorOptions)
  }
}

/** Whether a call was rejected before the server could run it, so that it can be sent over the next link. */
function wasNotDelivered(link: Link, error: unknown): boolean {
  const status = link.statusOf(error)
  const { message, cause } = (error ?? {}) as { message?: unknown; cause?: { code?: unknown } }
  // An unknown session, for example after a restart: 404 by the specification, 400 from many servers.
  if (status !== undefined) return status === 404 || (status === 400 && /session/i.test(String(message)))
  return message === 'Not connected' || cause?.code === 'ECONNREFUSED'
}

function needsUser(error: unknown): boolean {
  return isAlliumError(error) && error.code === 'mcp.unauthorized'
}

function isMalformed(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false
  const { issues, code } = error as { issues?: unknown; code?: unknown }
  return Array.isArray(issues) || code === 'INVALID_RESULT' || code === 'UNSUPPORTED_RESULT_TYPE'
}
