import { AlliumError } from '../errors/allium-error.ts'
import { describe } from '../errors/describe.ts'
import { checkOptions, type KeysOf, keysOf } from '../errors/known-options.ts'
import { freezeJson } from '../messages/json.ts'
import type { ToolDef } from '../model/model.ts'
import type { JsonSchema } from '../ports/validate.ts'
import { type FlowLabels, flowFault, type ToolFlow } from './flow.ts'
import { jsonSchemaOf } from './json-schema.ts'
import { schemaFault } from './standard-schema.ts'
import type { AnyTool, Tool } from './tool.ts'
import { checkSeen, isRunByProvider, type ToolGuard } from './tool-guard.ts'

/** A tool with its definition for the model, which is built once. */
export interface RegisteredTool {
  readonly tool: AnyTool
  readonly def: ToolDef
}

/** The tools of an agent by name. */
export class ToolRegistry {
  readonly #tools = new Map<string, RegisteredTool>()
  /** Labels of the data that may come in through the agents that tools delegate to, by tool name. */
  readonly brings = new Map<string, FlowLabels>()
  #defs: readonly ToolDef[] | undefined
  #guards: readonly ToolGuard[] = []

  add(tool: AnyTool): void {
    const def = toolDef(tool)
    checkSeen(this.#guards, [tool])
    if (this.#tools.has(tool.name))
      throw new AlliumError(
        'tool.duplicate',
        `The tool ${describe(tool.name)} is registered twice. Rename one of them.`,
        { details: { tool: tool.name } },
      )
    this.#tools.set(tool.name, { tool, def })
    this.#defs = undefined
  }

  /** Returns a registry with more tools, for one run. @throws AlliumError `tool.duplicate`, `tool.invalid` */
  with(tools: readonly AnyTool[]): ToolRegistry {
    const both = new ToolRegistry()
    both.#guards = this.#guards
    for (const [name, registered] of this.#tools) both.#tools.set(name, registered)
    for (const [name, labels] of this.brings) both.brings.set(name, labels)
    for (const tool of tools) both.add(tool)
    return both
  }

  /** Sets the guards. From now on, each must see the calls of the tools that it guards. @throws AlliumError `tool.invalid` */
  guardedBy(guards: readonly ToolGuard[]): void {
    this.checkSeenBy(guards)
    this.#guards = guards
  }
  /** @throws AlliumError `tool.invalid` if a guard covers a tool that the provider runs */
  checkSeenBy(guards: readonly ToolGuard[]): void {
    checkSeen(guards, this.all())
  }
  *all(): Iterable<AnyTool> {
    for (const { tool } of this.#tools.values()) yield tool
  }

  /**
   * Returns the declared flow of a tool, or undefined if it declares none. A tool that delegates gets the labels of the other
   * agent's tools. If these are unknown, both labels are set.
   */
  flowOf(name: string): ToolFlow<never> | undefined {
    const tool = this.#tools.get(name)?.tool
    if (tool?.flow === undefined || tool.agent === undefined) return tool?.flow
    const { untrusted = true, private: secret = true } = this.brings.get(name) ?? {}
    return { ...tool.flow, untrusted, private: secret }
  }

  /** Whether any tool declares a flow, so that labels of results matter. */
  get declaresFlow(): boolean {
    for (const { flow } of this.all()) if (flow !== undefined) return true
    return false
  }

  get(name: string): RegisteredTool | undefined {
    return this.#tools.get(name)
  }

  /** Frozen: a layer that changes `ctx.toolDefs` gets its own list. */
  get defs(): readonly ToolDef[] {
    return (this.#defs ??= Object.freeze([...this.#tools.values()].map(({ def }) => def)))
  }

  savepoint(): number {
    return this.#tools.size
  }

  /** Removes the tools added since a savepoint, after an init that failed. */
  rollback(savepoint: number): void {
    for (const name of [...this.#tools.keys()].slice(savepoint)) this.#tools.delete(name)
    this.#defs = undefined
  }
}

const ofTool = /* @__PURE__ */ keysOf<Tool>()(
  'name description schema jsonSchema execute requireApproval timeout onInterrupted providerExecuted providerOptions strict flow agent',
)
const ofProvider: KeysOf<NonNullable<Tool['providerExecuted']>> = { id: true, args: true }

function toolDef(tool: AnyTool): ToolDef {
  if (typeof tool !== 'object' || tool === null || typeof tool.name !== 'string' || tool.name === '')
    throw new AlliumError(
      'tool.invalid',
      `A tool is { name, description, schema, execute }, not ${describeTool(tool)}.`,
    )
  const { name, description, schema, providerExecuted, providerOptions, strict } = tool
  const what = `The tool ${describe(name)}`
  checkOptions(tool, ofTool, what, 'tool.invalid')
  checkOptions(providerExecuted, ofProvider, `${what}, in providerExecuted,`, 'tool.invalid')
  checkTool(tool, (why) => new AlliumError('tool.invalid', `${what} ${why}`))
  const jsonSchema: JsonSchema = {
    type: 'object',
    ...(tool.jsonSchema ?? (schema && jsonSchemaOf(schema, what, 'tool.invalid'))),
  }
  const { type } = jsonSchema
  if (providerExecuted === undefined && typeof type === 'string' && type !== 'object')
    throw new AlliumError(
      'tool.invalid',
      `${what} takes arguments of the type ${describe(type)}. Use an object, such as z.object({ value: … }).`,
    )
  return freezeJson({
    name,
    description,
    // A union has no type of its own, and arguments are an object in any case.
    jsonSchema: { ...structuredClone(jsonSchema), type: 'object' },
    ...(providerExecuted !== undefined && { providerExecuted: structuredClone(providerExecuted) }),
    ...(providerOptions !== undefined && { providerOptions: structuredClone(providerOptions) }),
    ...(strict !== undefined && { strict }),
  })
}

/** Throws what `fault` returns for the first reason why a tool cannot be used. */
function checkTool(tool: AnyTool, fault: (why: string) => AlliumError): void {
  const { name, description, schema, providerExecuted, execute, requireApproval, onInterrupted, flow } = tool
  if (!/^[\w-]{1,64}$/.test(name))
    throw fault('has a name that providers reject. Use 1 to 64 letters, digits, _ and -.')
  if (typeof description !== 'string') throw fault('has no description. Tell the model what it does.')
  if (typeof execute !== 'function' && providerExecuted === undefined) throw fault('has no execute function.')
  if (isRunByProvider(tool) && requireApproval !== undefined && requireApproval !== false)
    throw fault(
      'has requireApproval, but the provider runs it without asking. Give it an execute function, or remove requireApproval.',
    )
  if ((schema ?? tool.jsonSchema ?? providerExecuted) === undefined)
    throw fault(
      "has neither schema nor jsonSchema. For no arguments give jsonSchema: { type: 'object', properties: {} }.",
    )
  if (onInterrupted !== undefined && !['retry', 'fail', 'ask'].includes(onInterrupted))
    throw fault(`has ${describe(onInterrupted)} as its onInterrupted. Use "retry", "fail" or "ask".`)
  const noSchema = schema === undefined ? undefined : schemaFault(schema)
  if (noSchema !== undefined) throw fault(`has as its schema ${noSchema}.`)
  const wrongFlow = flow === undefined ? undefined : flowFault(flow)
  if (wrongFlow !== undefined) throw fault(wrongFlow)
}

/** Recognizes tools of the AI SDK, which have no name and call the schema `inputSchema` or `parameters`. */
function describeTool(tool: unknown): string {
  const isTheirs = typeof tool === 'object' && tool !== null && ('inputSchema' in tool || 'parameters' in tool)
  if (!isTheirs) return describe(tool)
  return 'a tool of the AI SDK (its inputSchema is the schema here, and its key in their list the name)'
}
