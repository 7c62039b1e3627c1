import { type AnyTool, type Logger, messageOf, type ToolExecution, toolResult } from '@allium/core'
import type { UntrustedSchema } from '@allium/core/internal'
import { digestOf } from '@allium/core/internal'
import type { CallToolResult, Tool } from '@modelcontextprotocol/client'
import type { Calls } from './callers.ts'
import type { Dialogues } from './dialogues.ts'
import type { Answers } from './question.ts'
import { contentOf } from './result.ts'
import { optionalSchema, serverSchema, violation } from './schema.ts'

export interface McpCall {
  /** The tool, by the server's own name. */
  tool: string
  args: Record<string, unknown>
}

export interface ToolboxOptions {
  readonly name: string
  readonly prefix: string
  readonly include: readonly string[] | undefined
  readonly exclude: readonly string[]
  readonly requireApproval:
    | boolean
    | readonly string[]
    | ((call: McpCall, ctx: ToolExecution) => boolean | Promise<boolean>)
  readonly timeout: number | undefined
  /** The expected digest of the first listing. */
  readonly pin?: string | undefined
  readonly flow?: { private?: boolean; writes?: boolean } | undefined
}

/**
 * An agent's tools of a server. They are those of the first listing, because an agent takes tools only at init. Tools that
 * later listings lack return error results; added or changed tools are logged as warnings.
 */
export class Toolbox {
  readonly #options: ToolboxOptions
  readonly #logger: Logger
  /** The first listing; undefined before it. */
  #first: Map<string, Tool> | undefined
  #currentNames = new Set<string>()
  #warned = new Set<string>()
  /** Whether the listing differs from the one that the app approved. */
  #isChanged = false

  constructor(options: ToolboxOptions, logger: Logger) {
    this.#options = options
    this.#logger = logger
  }

  /** Applies a listing of the server. */
  update(listed: readonly Tool[]): void {
    const tools = listed.filter(({ name }) => this.#isIncluded(name))
    this.#currentNames = new Set(tools.map(({ name }) => name))
    if (this.#first !== undefined) return this.#reportChanges(tools, this.#first)
    this.#first = new Map(tools.map((tool) => [tool.name, tool]))
    const { include = [], exclude, name: serverName } = this.#options
    const known = new Set(listed.map(({ name }) => name))
    const missing = [...include, ...exclude].filter((tool) => !known.has(tool))
    if (missing.length > 0)
      this.#logger.warn(
        `The MCP server "${serverName}" has no tool ${list(missing)}. Fix the options include and exclude. It has ${list([...known])}.`,
      )
  }

  /** Compares the listing of one user, who may have other tools. Only the parts that the model reads matter. */
  compare(listed: readonly Tool[]): void {
    const changed = this.#changedTools(listed)
    if (changed.length > 0) this.#isChanged = true
    this.#warn(changedToolsWarning, names(changed))
  }

  /** Compares the first listing with the pinned digest. */
  async checkPin(): Promise<void> {
    const { pin, name } = this.#options
    if (pin === undefined) return
    const digest = (await digestOf([...(this.#first?.values() ?? [])].map(definition).sort())).slice(0, 32)
    if (digest === pin) return
    this.#isChanged = true
    this.#logger.warn(
      `The tools of the MCP server "${name}" differ from the pinned ones. Review them. If they are correct, set pin: '${digest}'.`,
    )
  }

  /** Returns the tools that an agent can use; logs those that it cannot. */
  async tools(calls: Calls, dialogues: Dialogues): Promise<AnyTool[]> {
    const listed = [...(this.#first?.values() ?? [])]
    const read = listed.map(async (tool) => {
      const name = this.#nameOf(tool)
      const same = listed.filter((other) => this.#nameOf(other) === name)
      if (same.length > 1) return this.skipTool(tool.name, `it is called "${name}" here, as ${list(names(same))} are`)
      try {
        return [await this.#toolFor(tool, calls, dialogues)]
      } catch (error) {
        return this.skipTool(
          tool.name,
          messageOf(error)
            .replace(/^The JSON Schema/, 'its schema')
            .replace(/\. .*$/s, ''),
        )
      }
    })
    return (await Promise.all(read)).flat()
  }

  skipTool(tool: string, reason: string): [] {
    const { name } = this.#options
    this.#logger.warn(`The tool ${JSON.stringify(tool)} of the MCP server "${name}" is left out: ${reason}.`)
    return []
  }

  #nameOf({ name }: Tool): string {
    return toolName(this.#options.prefix, name)
  }

  async #toolFor(tool: Tool, calls: Calls, dialogues: Dialogues): Promise<AnyTool> {
    const { timeout, name: server } = this.#options
    const requireApproval = this.#approvalOf(tool.name)
    const subject = `tool ${JSON.stringify(tool.name)} of the MCP server "${server}"`
    const schema = await serverSchema(tool.inputSchema, `The schema of the ${subject}`, this.#logger)
    const { outputSchema } = tool
    const output =
      outputSchema && (await optionalSchema(outputSchema, `The output schema of the ${subject}`, this.#logger))
    return {
      name: this.#nameOf(tool),
      description: tool.description ?? tool.title ?? '',
      schema,
      flow: { ...this.#options.flow, untrusted: true, sends: true, changed: () => this.#isChanged },
      ...(timeout !== undefined && { timeout }),
      ...(requireApproval !== undefined && { requireApproval }),
      execute: async (args: Answers, ctx) => {
        if (!this.#currentNames.has(tool.name))
          return failure(`The MCP server "${server}" no longer has the tool "${tool.name}".`)
        const result = await dialogues.run({ calls, tool, args, ctx })
        if (result === undefined) return 'waits for a human'
        const problem = output && (await mismatch(output, result))
        if (problem !== undefined) return failure(`The result of "${tool.name}" does not fit its schema: ${problem}`)
        const { structuredContent, isError = false } = result
        const shaped = toolResult({ content: contentOf(result), isError })
        return structuredContent === undefined ? shaped : { ...shaped, structuredContent }
      },
    }
  }

  /** The server's hints (`readOnlyHint` and so on) never remove the need for approval. */
  #approvalOf(tool: string): AnyTool['requireApproval'] | undefined {
    const { requireApproval } = this.#options
    if (typeof requireApproval === 'boolean') return requireApproval
    if (typeof requireApproval === 'function')
      return (args: Record<string, unknown>, ctx) => requireApproval({ tool, args }, ctx)
    return requireApproval.includes(tool)
  }

  #isIncluded(tool: string): boolean {
    const { include, exclude } = this.#options
    return (include?.includes(tool) ?? true) && !exclude.includes(tool)
  }

  #changedTools(tools: readonly Tool[]): Tool[] {
    return tools.filter((tool) => {
      const firstDefinition = this.#first?.get(tool.name)
      return firstDefinition !== undefined && definition(firstDefinition) !== definition(tool)
    })
  }

  #reportChanges(tools: readonly Tool[], first: ReadonlyMap<string, Tool>): void {
    const changed = this.#changedTools(tools)
    const isNew = tools.some(({ name }) => !first.has(name))
    if (changed.length > 0 || isNew) this.#isChanged = true
    this.#warn('new tools, which an agent only adds at init', names(tools.filter(({ name }) => !first.has(name))))
    this.#warn(changedToolsWarning, names(changed))
    this.#warn(
      'no longer the tools',
      [...first.keys()].filter((name) => !this.#currentNames.has(name)),
    )
  }

  /** Warns once per set of tools, so that an unstable server does not flood the log. */
  #warn(what: string, tools: readonly string[]): void {
    if (tools.length === 0) return
    const message = `The MCP server "${this.#options.name}" has ${what}: ${list(tools)}. Create a new agent to use the current tools.`
    if (this.#warned.has(message)) return
    this.#warned.add(message)
    this.#logger.warn(message)
  }
}

const changedToolsWarning = 'changed tools; the model still has the first definition'

/** Providers only accept names of letters, digits, `_` and `-`. */
function toolName(prefix: string, name: string): string {
  return (prefix + name).replaceAll(/[^\w-]/g, '_')
}

function failure(content: string) {
  return toolResult({ content, isError: true })
}

/** Returns how `structuredContent` violates the server's output schema. */
async function mismatch(
  output: UntrustedSchema,
  { structuredContent, isError = false }: CallToolResult,
): Promise<string | undefined> {
  return structuredContent === undefined || isError ? undefined : violation(output, structuredContent)
}

function definition({ name, title, description, inputSchema }: Tool): string {
  return JSON.stringify([name, description ?? title ?? '', inputSchema])
}

function names(tools: readonly Tool[]): string[] {
  return tools.map(({ name }) => name)
}

function list(toolNames: readonly string[]): string {
  return toolNames.length === 0 ? 'none' : toolNames.map((name) => JSON.stringify(name)).join(', ')
}
