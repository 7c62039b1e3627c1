import {
  type Agent,
  type AnyTool,
  defineMiddleware,
  delegate,
  type Input,
  layerOptions,
  option,
  type RunOptions,
  type RunResult,
  type Tool,
  type ToolArgs,
  type TypedMiddleware,
  toolResult,
} from '@allium/core'

type Schema = Tool['schema']

export interface AgentToolOptions<S extends Schema, State> {
  /** The agent that does the work. */
  agent: Agent<State>
  /** The tool description for the model: when to delegate, and what it returns. */
  description: string
  /** The tool's name. @default the agent's name */
  name?: string | undefined
  /** The schema of the model's arguments. @default `{ task: string }` */
  schema?: S | undefined
  /** Their JSON Schema, for a `schema` that cannot return one. Without `schema`, it also checks them. */
  jsonSchema?: object | undefined
  /** Returns the input of the agent's turn from the arguments. @default the task */
  input?(args: ToolArgs<S>): Input
  /** Returns the part of the result that the model receives. @default its text */
  result?(result: RunResult<State>): unknown
  /** Options of each run, such as `maxSteps`. */
  runOptions?: RunOptions | undefined
  /** Timeout of the work, in milliseconds. @default 600_000 */
  timeout?: number | undefined
  requireApproval?: AnyTool['requireApproval'] | undefined
  /** The layer's name. @default 'tools:agent:' and the tool's name */
  as?: string | undefined
}

/** A replay runs the code of such a tool, because it has no effect of its own. */
const onlyDelegates = Symbol.for('allium:delegates')

const readOptions = layerOptions<AgentToolOptions<Schema, unknown>>('tools:agent', {
  agent: option.required(option.object, 'who does the work'),
  description: option.required(option.text, 'when to hand work on, for the model'),
  name: option.text,
  schema: option.any,
  jsonSchema: option.any,
  input: option.fn,
  result: option.fn,
  runOptions: option.object,
  timeout: option.number({ above: 0 }),
  requireApproval: option.either(option.flag, option.fn),
})

/**
 * Makes another agent available as a tool: the model delegates a task and receives the answer.
 *
 * Layers with `inherit` (guards, meters, observers) also wrap the other agent. Its usage counts here, its events carry a `path`, an
 * abort cancels it, and its calls that wait for a human suspend this run. Each task begins with an empty history. A blocked task
 * returns an error result with the reason.
 *
 * @throws AlliumError (from `.use()`) `tool.duplicate`
 * @example
 * const researcher = new Agent({ name: 'researcher', model, tools: [search] })
 * agent.use(tools.agent({ agent: researcher, description: 'Finds facts on the web, with sources' }))
 */
export function agentTool<S extends Schema = undefined, State = {}>(
  options: AgentToolOptions<S, State>,
): TypedMiddleware<{}> {
  const {
    agent,
    description,
    name = agent.name,
    schema,
    jsonSchema = schema === undefined ? taskSchema : undefined,
    input = (args) => taskOf(args as object),
    result = ({ text }) => text,
    runOptions,
    timeout = 600_000,
    requireApproval,
    as = `tools:agent:${name}`,
  }: AgentToolOptions<S, State> = readOptions(options)
  const tool: AnyTool = {
    name,
    description,
    timeout,
    flow: {},
    agent,
    ...{ [onlyDelegates]: true },
    ...(schema !== undefined && { schema }),
    ...(jsonSchema !== undefined && { jsonSchema }),
    ...(requireApproval !== undefined && { requireApproval }),
    async execute(args: ToolArgs<S>, ctx) {
      const runResult = await delegate(ctx, agent, input(args), runOptions)
      if (runResult === undefined) return 'waits for a human'
      switch (runResult.status) {
        case 'completed':
        case 'stopped':
        case 'suspended':
          return result(runResult)
        case 'blocked':
          return toolResult({ content: runResult.text || `"${name}" was blocked: ${runResult.reason}`, isError: true })
        default:
          return unknownEnd(name, runResult.status)
      }
    },
  }
  return defineMiddleware({ name: as, tools: [tool] })
}

/** Handles a status that a newer core may add, which is not an answer. */
function unknownEnd(name: string, status: never): ToolReturn {
  return toolResult({ content: `"${name}" ended ${String(status)}.`, isError: true })
}

type ToolReturn = ReturnType<typeof toolResult>

const taskSchema = {
  type: 'object',
  properties: { task: { type: 'string', description: 'Everything that the agent has to know' } },
  required: ['task'],
  additionalProperties: false,
}

function taskOf(args: object): string {
  return String((args as { task?: unknown }).task ?? '')
}
