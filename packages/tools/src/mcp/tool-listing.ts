import type { Client, ListToolsResult, Tool } from '@modelcontextprotocol/client'
import type { LinkSetup } from './link-setup.ts'
import type { Freshness } from './tool-lists.ts'

/** Lists the tools of one connection, again whenever the server announces a change. */
export class ToolListing {
  readonly #setup: LinkSetup
  readonly #client: Client
  readonly #isOpen: () => boolean
  /** By name, of the latest list. */
  #tools = new Map<string, Tool>()
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
    const { onTools, lists, clock, connectTimeout: timeout } = this.#setup
    if (onTools === undefined) return
    const relist = () => void this.#relist()
    this.#client.setNotificationHandler('notifications/tools/list_changed', relist)
    onTools(this.#remember(lists.fresh(clock.now()) ?? (await this.#list())))
    if (this.#client.getProtocolEra() !== 'modern' || !this.#client.getServerCapabilities()?.tools?.listChanged) return
    const { subscribe } = await import('./subscription.ts')
    void subscribe(this.#client, this.#isOpen, { timeout, pause: this.#pause, onReopened: relist })
  }

  /** Returns the current definition of a tool; undefined if tools are not listed. */
  get(name: string): Tool | undefined {
    const { lists, clock } = this.#setup
    if (lists.isStale(clock.now())) void this.#relist()
    return this.#tools.get(name)
  }

  /** Lists the tools now. */
  async refresh(): Promise<void> {
    await this.#refreshTools()
  }

  #remember(tools: readonly Tool[]): readonly Tool[] {
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]))
    return tools
  }

  async #list(): Promise<Tool[]> {
    const tools: Tool[] = []
    if (this.#client.getServerCapabilities()?.tools === undefined) return tools
    const { lists, clock } = this.#setup
    const listedAt = clock.now()
    let freshness: Freshness = { ttlMs: Number.POSITIVE_INFINITY, scope: 'public' }
    let cursor: string | undefined
    let remaining = this.#setup.maxBytes
    for (let page = 0; page < maxPages; page++) {
      const request = { method: 'tools/list' as const, ...(cursor !== undefined && { params: { cursor } }) }
      const options = { timeout: this.#setup.connectTimeout }
      const listed = await this.#client.request(request, options)
      remaining -= JSON.stringify(listed.tools).length
      if (remaining < 0 || tools.length + listed.tools.length > maxTools) return this.#limitTools(tools, listed.tools)
      tools.push(...(await this.#callable(listed.tools)))
      freshness = leastOf(freshness, listed)
      cursor = listed.nextCursor
      if (cursor !== undefined) continue
      if (this.#client.getProtocolEra() === 'modern') lists.store(tools, freshness, listedAt)
      return tools
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

  /** Leaves out tools that revision 2026-07-28 forbids to call. */
  async #callable(tools: readonly Tool[]): Promise<readonly Tool[]> {
    if (this.#client.getProtocolEra() !== 'modern' || !JSON.stringify(tools).includes('"x-mcp-header"')) return tools
    const { name: server, logger } = this.#setup
    const { headerFault } = await import('./header-fault.ts')
    return tools.filter(({ name, inputSchema }) => {
      const fault = headerFault(inputSchema)
      if (fault !== undefined)
        logger.warn(`The tool ${JSON.stringify(name)} of the MCP server "${server}" is left out: ${fault}.`)
      return fault === undefined
    })
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
      if (this.#isOpen()) onTools?.(this.#remember(tools))
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

function leastOf({ ttlMs, scope }: Freshness, page: ListToolsResult): Freshness {
  const pageTtl = typeof page.ttlMs === 'number' ? page.ttlMs : 0
  return { ttlMs: Math.min(ttlMs, pageTtl), scope: page.cacheScope === 'public' ? scope : 'private' }
}

const maxPages = 100
const maxTools = 1_000
const relistDelay = 1_000
