import { Agent, type AgentOptions, type AnyTool, type Middleware, type ToolFlow } from '@allium/core'
import { type ScriptedStep, scriptedModel } from '@allium/testing'
import { type FlowOptions, flow } from '../../src/index.ts'

export const harmless: ToolFlow = {}
export const mail: ToolFlow = { untrusted: true, private: true }
export const page: ToolFlow = { untrusted: true }
export const secret: ToolFlow = { private: true }
export const sends: ToolFlow = { sends: true }
export const writes: ToolFlow = { writes: true }

export function tool(
  name: string,
  flow: ToolFlow<never> | undefined,
  execute: AnyTool['execute'] = () => name,
): AnyTool {
  return { name, description: `The tool ${name}`, jsonSchema: { type: 'object' }, execute, ...(flow && { flow }) }
}

/** A step in which the model calls tools. */
export function calling(...names: string[]): ScriptedStep {
  return { toolCalls: names.map((name) => ({ name, args: {} })) }
}

/** An agent with tools by what they declare, which note that they ran, around the layer. */
export function scene(
  steps: readonly ScriptedStep[],
  tools: Readonly<Record<string, ToolFlow<never>>>,
  { options = {}, layers = [], agent: more = {} }: SceneOptions = {},
) {
  const ran: string[] = []
  const made = Object.entries(tools).map(([name, declared]) => tool(name, declared, () => `${name} ${ran.push(name)}`))
  const model = scriptedModel(steps)
  const agent = new Agent({ model, tools: made, logger: { warn() {}, error() {} }, ...more })
  for (const layer of layers) agent.use(layer)
  return { agent: agent.use(flow(options)), model, ran }
}

interface SceneOptions {
  options?: FlowOptions
  layers?: readonly Middleware[]
  agent?: Partial<AgentOptions>
}
