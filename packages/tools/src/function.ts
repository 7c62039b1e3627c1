import { type AnyTool, defineMiddleware, layerOptions, option, type Tool, type TypedMiddleware } from '@allium/core'

type Schema = Tool['schema']

export interface FunctionOptions<S extends Schema> extends Tool<S> {
  /** The layer's name. @default 'tools:function:' and the tool's name */
  as?: string | undefined
}

const readOptions = layerOptions<FunctionOptions<Schema>>('tools:function', {
  name: option.required(option.text, 'what the model calls it by'),
  description: option.required(option.text, 'what it is for, for the model'),
  schema: option.any,
  jsonSchema: option.any,
  execute: option.fn,
  requireApproval: option.either(option.flag, option.fn),
  timeout: option.number({ above: 0 }),
  onInterrupted: option.oneOf('retry', 'fail', 'ask'),
  providerExecuted: option.object,
  providerOptions: option.object,
  strict: option.flag,
  flow: option.object,
  agent: option.object,
})

/**
 * Adds a tool that consists of one function.
 *
 * Use it when the tool belongs to a feature that is added as a layer. Tools of the agent itself can go into its `tools` option instead.
 * The schema types and validates the arguments.
 *
 * @throws AlliumError (from `.use()`) `tool.invalid`, `tool.duplicate`
 * @example
 * agent.use(
 *   tools.function({
 *     name: 'add',
 *     description: 'Adds two numbers',
 *     schema: z.object({ a: z.number(), b: z.number() }),
 *     execute: ({ a, b }) => a + b,
 *   }),
 * )
 */
export function functionTool<S extends Schema = undefined>(options: FunctionOptions<S>): TypedMiddleware<{}> {
  const { as, ...tool } = readOptions(options)
  return defineMiddleware({ name: as ?? `tools:function:${tool.name}`, tools: [tool as AnyTool] })
}
