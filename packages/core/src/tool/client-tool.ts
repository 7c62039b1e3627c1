import { describe } from '../errors/describe.ts'
import { checkOptions, type KeysOf } from '../errors/known-options.ts'
import type { ToolDef } from '../model/model.ts'
import { serialize } from './serialize.ts'
import type { AnyTool, ToolExecution } from './tool.ts'
import { toolResult } from './tool-result.ts'

const ofClient: KeysOf<Omit<ToolDef, 'providerExecuted'>> = {
  name: true,
  description: true,
  jsonSchema: true,
  providerOptions: true,
  strict: true,
}
const elsewhere = { 'execute requireApproval': 'The client runs it: its call waits for the result.' }

const ofClients = new WeakSet<object>()

/** A tool that whoever began the run executes: its call waits, and goes on with the result that `resume()` brings. */
export function clientTool(def: ToolDef): AnyTool {
  if (typeof def !== 'object' || def === null) return def
  const { name, description, jsonSchema, providerOptions, strict } = def
  checkOptions(def, ofClient, `The client tool ${describe(name)}`, 'tool.invalid', elsewhere)
  const tool: AnyTool = {
    name,
    description,
    jsonSchema,
    ...(providerOptions !== undefined && { providerOptions }),
    ...(strict !== undefined && { strict }),
    // What a client says is from outside, and its arguments leave for it.
    flow: { untrusted: true, sends: true },
    execute(_: unknown, ctx: ToolExecution) {
      const { approval } = ctx
      if (approval === undefined || !('result' in approval)) return ctx.suspend()
      const { result, isError = false } = approval
      if (!isError) return result
      return toolResult({ content: typeof result === 'string' ? result : serialize(result), isError })
    },
  }
  ofClients.add(tool)
  return tool
}

/** Whether the client runs it. */
export function isClientTool(tool: object | undefined): boolean {
  return tool !== undefined && ofClients.has(tool)
}
