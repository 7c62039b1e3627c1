import type { ModelWarning, ToolDef } from '@allium/core'

/** The tools of a request that its provider defines, by name. */
export class ProviderTools {
  readonly #ids: Map<string, string>
  /** Settings of the tools that the provider cannot take. */
  readonly warnings: ModelWarning[] = []

  constructor(tools: readonly ToolDef[]) {
    this.#ids = new Map(
      tools.flatMap(({ name, providerExecuted }) =>
        providerExecuted === undefined ? [] : [[name, providerExecuted.id] as const],
      ),
    )
  }

  has(name: string): boolean {
    return this.#ids.has(name)
  }

  /** Whether one is an MCP server that the provider connects to. Only raw events have its label. */
  get hasMcp(): boolean {
    return [...this.#ids.values()].some((id) => id.endsWith('.mcp'))
  }

  /** Whether the tool takes a text instead of arguments, such as OpenAI's custom tools with a grammar. */
  takesText(name: string): boolean {
    return this.#ids.get(name)?.endsWith('.custom') === true
  }
}
