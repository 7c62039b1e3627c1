import type { ToolDef } from '@allium/core'

/** The tools of a request that its provider defines, by name. */
export class ProviderTools {
  readonly #ids: Map<string, string>

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

  /** Whether the tool is given a text in place of arguments: OpenAI's custom tools, by a grammar. */
  takesText(name: string): boolean {
    return this.#ids.get(name)?.endsWith('.custom') === true
  }
}
