import type { AnyTool, Instructions, ModelRef, Usable } from '@allium/core'
import type { Hook, HookName } from './contexts.ts'

/** A config file as data. Functions, models, tools and layers as values are for files in TypeScript. */
export interface AlliumConfig {
  agent?: AgentConfig
  /** Milliseconds that a hook, or a tool's `execute`, may take. @default 120_000 */
  toolTimeout?: number
}

export interface AgentConfig {
  name?: string
  /** Such as `anthropic/claude-sonnet-4-6`. */
  model?: ModelRef
  instructions?: Instructions
  /** How long a model that can think does so. */
  thinking?: 'low' | 'medium' | 'high'
  /** Steps of one turn. @default 25 */
  maxIterations?: number
  /** Files that export a tool, or a list of them, by default. */
  tools?: readonly (string | AnyTool)[]
  /** MCP servers by name. */
  mcp?: Readonly<Record<string, McpServer>>
  /** Packs by name, the outermost first: `guard.budget`, or `{ 'guard.budget': { limit: 1 } }`. */
  use?: readonly (string | PackEntry | Usable)[]
  middleware?: { readonly [Name in HookName]?: readonly HookEntry<Name>[] }
}

/** One pack and its options, under its name. */
export type PackEntry = Readonly<Record<`${string}.${string}`, Readonly<Record<string, unknown>> | null>>

/** A server that is started, or one that is reached by URL. */
export type McpServer =
  | ({ command: string; args?: readonly string[]; env?: Readonly<Record<string, string>> } & McpAsks)
  | ({
      url: string
      headers?: Readonly<Record<string, string>>
      /** A connection for each user of each tenant; the tools are listed with `listWith`. */
      perPrincipal?: boolean
      listWith?: { headers: Readonly<Record<string, string>> }
      maxConnections?: number
    } & McpAsks)

/** What a server may ask in the middle of a call: the options of `tools.mcp` of these names. */
interface McpAsks {
  elicitation?: boolean | { expiresIn?: number }
  sampling?: boolean | { model?: string; maxTokens?: number; perCall?: number }
}

/** TypeScript text, a path, `shell: command`, or in a TypeScript file the function itself. */
export type HookEntry<Name extends HookName> = string | Hook<Name> | HookOptions<Name>

export interface HookOptions<Name extends HookName> {
  run: string | Hook<Name>
  /**
   * What a failure or timeout does: refuse (`true`), or let the loop go on (`false`).
   * @default refuse where `beforeToolExecution` fails or times out, and where another before-hook fails; else go on
   */
  policy?: boolean | undefined
  /** Milliseconds. @default toolTimeout */
  timeout?: number | undefined
  /** For shell hooks: variables besides the basic ones. Names are passed on; a map sets them, or passes on where it says `true`. */
  env?: readonly string[] | Readonly<Record<string, string | true>> | undefined
}

/** Types a config file in TypeScript; it gives back what it got. */
export function defineConfig(config: AlliumConfig): AlliumConfig {
  return config
}
