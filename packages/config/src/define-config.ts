import type { AnyTool, Instructions, ModelRef, Usable } from '@allium/core'
import type { Hook, HookName } from './contexts.ts'

/** A config file as data. Only TypeScript files can have functions, models, tools and layers as values. */
export interface AlliumConfig {
  agent?: AgentConfig
  /** The timeout of a hook or a tool's `execute`, in milliseconds. @default 120_000 */
  toolTimeout?: number
}

export interface AgentConfig {
  name?: string
  /** For example `anthropic/claude-sonnet-4-6`. */
  model?: ModelRef
  instructions?: Instructions
  /** The reasoning effort of a model that can think. */
  thinking?: 'low' | 'medium' | 'high'
  /** The maximum number of steps in a turn. @default 25 */
  maxIterations?: number
  /** Files whose default export is a tool or a list of tools. */
  tools?: readonly (string | AnyTool)[]
  /** MCP servers by name. */
  mcp?: Readonly<Record<string, McpServer>>
  /** Packs by name, the outermost first: `guard.budget`, or `{ 'guard.budget': { limit: 1 } }`. */
  use?: readonly (string | PackEntry | Usable)[]
  middleware?: { readonly [Name in HookName]?: readonly HookEntry<Name>[] }
}

/** One pack and its options, under its name. */
export type PackEntry = Readonly<Record<`${string}.${string}`, Readonly<Record<string, unknown>> | null>>

/** A server that is started as a process, or reached by URL. */
export type McpServer =
  | ({ command: string; args?: readonly string[]; env?: Readonly<Record<string, string>> } & McpAsks)
  | ({
      url: string
      headers?: Readonly<Record<string, string>>
      /** A connection per tenant and user; the tools are listed with `listWith`. */
      perPrincipal?: boolean
      listWith?: { headers: Readonly<Record<string, string>> }
      maxConnections?: number
    } & McpAsks)

/** The requests that a server may make during a call: the options of `tools.mcp` with these names. */
interface McpAsks {
  elicitation?: boolean | { expiresIn?: number }
  sampling?: boolean | { model?: string; maxOutputTokens?: number; perCall?: number }
}

/** TypeScript text, a path, `shell: command`, or in a TypeScript file the function itself. */
export type HookEntry<Name extends HookName> = string | Hook<Name> | HookOptions<Name>

export interface HookOptions<Name extends HookName> {
  run: string | Hook<Name>
  /**
   * Whether a failure or timeout refuses the action (`true`) or lets the loop continue (`false`).
   * @default refuse if `beforeToolExecution` fails or times out, or another before-hook fails; otherwise continue
   */
  policy?: boolean | undefined
  /** Milliseconds. @default toolTimeout */
  timeout?: number | undefined
  /**
   * For shell hooks: environment variables besides the basic ones. A list copies them; a map sets them, or copies those with the value
   * `true`.
   */
  env?: readonly string[] | Readonly<Record<string, string | true>> | undefined
}

/** Types a config file in TypeScript; returns its argument. */
export function defineConfig(config: AlliumConfig): AlliumConfig {
  return config
}
