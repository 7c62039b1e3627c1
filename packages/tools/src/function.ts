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
  afterCrash: option.oneOf('rerun', 'fail', 'ask'),
  providerExecuted: option.object,
  providerOptions: option.object,
  strict: option.flag,
  flow: option.object,
  agent: option.object,
})

/**
 * Gives the agent a tool made of one function.
 *
 * Where a tool belongs to a feature that comes and goes as a layer; tools of the agent itself fit in its `tools` too.
 * The arguments are typed and checked by the schema.
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
