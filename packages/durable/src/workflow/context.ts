import type { Agent, Input, OutputOption, RegisteredContext, RegisteredPrincipal } from '@allium/core'
import { describe } from '@allium/core/internal'
import { type AgentStep, type AgentStepOptions, type AnswerOf, agentRequest } from './agent-step.ts'
import { type ApprovalDecision, type ApprovalStepOptions, approvalRequest } from './approval.ts'
import type { CommandRequest } from './command.ts'
import { invalidOption } from './errors.ts'
import { sleepRequest } from './sleep.ts'
import { type StepContext, type StepOptions, stepRequest } from './step.ts'

/** The values of a workflow run. */
interface WorkflowValues<I> {
  /** The input, as the schema parsed it. */
  readonly input: I
  readonly principal: RegisteredPrincipal
  readonly context: RegisteredContext
  readonly sessionId: string
}

/**
 * The parameter of `run()`. The code may run again from the start, in any process, and gets the recorded results. So between steps it must do
 * the same each time: put calls, times and random values into steps, and await nothing but these functions.
 */
export interface WorkflowContext<I = unknown> extends WorkflowValues<I> {
  /**
   * Runs a function once and stores its result, which must be plain data. A step that a lost process had begun and not recorded runs again.
   *
   * @param name unique among steps that wait at the same time. In a loop, the uses are numbered: `charge`, `charge#2`
   * @throws AlliumError `run.failed` if the last attempt failed, `options.invalid`
   */
  step<T>(name: string, fn: (step: StepContext) => T | Promise<T>, options?: StepOptions): Promise<T>
  /**
   * Runs an agent. Its model and tool calls are steps of this run, and its usage and events belong to it. If the agent waits for an approval,
   * the run is suspended.
   *
   * @throws AlliumError `run.failed` if the agent failed
   */
  agent<S, O extends OutputOption | undefined = undefined>(
    agent: Agent<S>,
    input: Input,
    options?: AgentStepOptions<O>,
  ): Promise<AgentStep<AnswerOf<O>>>
  /**
   * Waits for all of them, and returns their results in order. If some fail, the first error is thrown when all have ended. Steps that follow
   * one another inside a branch start together with those of the other branches.
   */
  all<const T extends readonly unknown[]>(steps: T): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }>
  /** Suspends the run until a person decides, by the same routes and rules as for a tool that requires an approval. */
  approval(name: string, request?: ApprovalStepOptions): Promise<ApprovalDecision>
  /** Waits, also across restarts. @param until milliseconds, or a date */
  sleep(until: number | Date): Promise<void>
}

const names = /^[\p{L}\p{N}_][\p{L}\p{N}_ .-]{0,39}$/u

/** Creates the context of a run. @param request receives each request of the code */
export function workflowContext<I>(
  values: WorkflowValues<I>,
  request: (command: CommandRequest) => Promise<unknown>,
): WorkflowContext<I> {
  const requested = (make: () => CommandRequest): Promise<never> => {
    let result: Promise<unknown>
    try {
      result = request(named(make()))
    } catch (error) {
      result = Promise.reject(error)
    }
    // The code may wait for another step first.
    result.catch(() => {})
    return result as Promise<never>
  }
  return {
    ...values,
    step: (name, fn, options) => requested(() => stepRequest(name, fn, options)),
    agent: (agent, input, options) => requested(() => agentRequest(agent as never, input, options)),
    approval: (name, options) => requested(() => approvalRequest(name, options)),
    sleep: (until) => requested(() => sleepRequest(until)),
    all: allOf,
  }
}

async function allOf<const T extends readonly unknown[]>(steps: T) {
  const ended = await Promise.allSettled(steps)
  const failed = ended.find((one) => one.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  return ended.map((one) => (one as PromiseFulfilledResult<unknown>).value) as never
}

/** @throws AlliumError `options.invalid` for a name that cannot be part of an id */
function named(command: CommandRequest): CommandRequest {
  const { kind, name } = command
  if (typeof name === 'string' && names.test(name) && !(name in {})) return command
  throw invalidOption(
    `ctx.${kind}() takes a name of 1 to 40 letters, digits, spaces, "_", "." and "-", but ${describe(name)} was given.`,
  )
}
