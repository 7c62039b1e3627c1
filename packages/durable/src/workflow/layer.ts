import {
  type AnyTool,
  type Clock,
  defineMiddleware,
  isAlliumError,
  type Message,
  type TurnView,
  type TypedMiddleware,
  textOf,
  toolResult,
} from '@allium/core'
import { rootTurnIdOf } from '@allium/core/context'
import { controls } from '../journal/run-control.ts'
import { Activity } from './activity.ts'
import type { CommandKind } from './command.ts'
import { type WorkflowContext, workflowContext } from './context.ts'
import { stepFailed } from './errors.ts'
import { Program, type Progress } from './program.ts'
import { recordedBatches } from './recorded.ts'
import { runCommand } from './run-command.ts'
import { textOfValue } from './values.ts'

/** The parts of a workflow that its layer needs. */
interface WorkflowCode {
  readonly name: string
  run(ctx: WorkflowContext<never>): unknown
  /** Parses the text of the input. @throws AlliumError `message.invalid` */
  parse(text: string): Promise<unknown>
}

/** One turn of the workflow in this process. */
interface Execution {
  readonly program: Program
  readonly activity: Activity
  readonly clock: Clock
  readonly rootId: string
}

/** Returns the layer that answers model calls with the next steps of the code, and runs them as tools. */
export function workflowLayer(code: WorkflowCode): TypedMiddleware<{}> {
  const executions = new Map<string, Execution>()
  const executionOf = (ctx: TurnView<never, never>): Execution => {
    const { turnId, clock } = ctx
    const known = executions.get(turnId)
    if (known !== undefined) return known
    const execution = {
      program: programOf(code, ctx),
      activity: new Activity(controls.get(turnId)),
      ...{ clock, rootId: rootTurnIdOf(ctx) },
    }
    executions.set(turnId, execution)
    return execution
  }
  return defineMiddleware({
    name: 'workflow',
    innermost: true,
    reenters: true,
    order: { is: ['retries'] },
    tools: toolsOf((turnId) => executions.get(turnId)),
    async turn(ctx, next) {
      ctx.onInput((_, { steered, ctx: about }) => {
        if (steered) about.block('A workflow takes no messages while it runs.')
      })
      try {
        await next()
      } finally {
        executions.delete(ctx.turnId)
      }
    },
    async model(ctx) {
      const progress = await advance(executionOf(ctx as never), ctx)
      if ('result' in progress)
        return ctx.skipCall(textOfValue(progress.result, `The result of the workflow "${code.name}"`) || 'null')
      const toolCalls = progress.commands.map(({ kind, key, args }) => ({
        ...{ callId: callIdOf(key, ctx.turnIndex), name: kind, args: args as Record<string, unknown> },
      }))
      return ctx.skipCall({ toolCalls })
    },
    async tool(ctx, next) {
      const execution = executionOf(ctx as never)
      // A run that resumes begins with its decided calls.
      if (execution.program.running(ctx.callId) === undefined) await advance(execution, ctx)
      const command = execution.program.running(ctx.callId)
      return command === undefined ? next() : runCommand(command, execution.activity, ctx, next)
    },
  })
}

/** Continues the code. If it does not fit the recording, a durable run is given up and keeps its steps. */
async function advance(
  { program }: Execution,
  ctx: { history: readonly Readonly<Message>[]; turnId: string; signal: AbortSignal },
): Promise<Progress> {
  try {
    return await program.advance(recordedBatches(ctx.history))
  } catch (error) {
    if (isAlliumError(error, 'journal.diverged')) await controls.get(ctx.turnId)?.onDiverged(error)
    throw error
  }
}

function programOf(code: WorkflowCode, ctx: TurnView<never, never>): Program {
  const { history, principal, context, sessionId, turnIndex } = ctx
  const first = history.findLast((message) => message.role === 'user' && !('steer' in message))
  const text = first === undefined ? '' : textOf(first)
  const program: Program = new Program(
    async () => {
      const values = { input: (await code.parse(text)) as never, principal, context, sessionId }
      return code.run(workflowContext<never>(values, (command) => program.request(command)))
    },
    (key) => callIdOf(key, turnIndex),
  )
  return program
}

/** Ids are unique in a session, which may run the workflow several times. */
function callIdOf(key: string, turnIndex: number): string {
  return turnIndex === 0 ? key : `${key}@${turnIndex}`
}

const descriptions: Readonly<Record<CommandKind, string>> = {
  step: 'Runs a step of the workflow.',
  agent: 'Runs an agent in the workflow.',
  approval: 'Asks a person to approve the workflow.',
  sleep: 'Lets the workflow wait.',
}

function toolsOf(executionOf: (turnId: string) => Execution | undefined): AnyTool[] {
  return Object.entries(descriptions).map(([name, description]) => ({
    name,
    description,
    jsonSchema: { type: 'object' },
    // Each step has a limit of its own.
    timeout: Number.POSITIVE_INFINITY,
    flow: {},
    async execute(_, ctx) {
      const execution = executionOf(ctx.turnId)
      const command = execution?.program.running(ctx.callId)
      if (execution === undefined || command?.execute === undefined) return toolResult({ content: '' })
      const { clock, rootId } = execution
      try {
        const text = await command.execute({ ctx, clock, idempotencyKey: `${rootId}:${ctx.callId}` })
        return text === undefined ? undefined : toolResult({ content: text })
      } catch (error) {
        throw stepFailed(command, error)
      }
    },
  }))
}
