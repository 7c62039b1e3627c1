import type { Client, Tool } from '@modelcontextprotocol/client'
import type { LinkSetup } from './link-setup.ts'

/** Lists the tools of one connection, again whenever the server announces a change. */
export class ToolListing {
  readonly #setup: LinkSetup
  readonly #client: Client
  readonly #isOpen: () => boolean
  #relisting = false
  /** Whether the tools have changed since the last listing began. */
  #toolsChanged = false

  constructor(setup: LinkSetup, client: Client, isOpen: () => boolean) {
    this.#setup = setup
    this.#client = client
    this.#isOpen = isOpen
  }

  /** Does nothing unless someone receives the tools. */
  async begin(): Promise<void> {
    const { onTools } = this.#setup
    if (onTools === undefined) return
    this.#client.setNotificationHandler('notifications/tools/list_changed', () => this.#relist())
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
      const listed = await this.#client.request(request, options)
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
    while (this.#toolsChanged && this.#isOpen()) {
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
      if (this.#isOpen()) onTools?.(tools)
    } catch (error) {
      if (this.#isOpen())
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
}

const maxPages = 100
const maxTools = 1_000
const relistDelay = 1_000
