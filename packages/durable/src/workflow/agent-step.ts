import { type Agent, delegate, type Input, type OutputOf, type OutputOption } from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import type { CommandRequest } from './command.ts'
import { failedCommand, invalidOption } from './errors.ts'
import { valueOfResult } from './results.ts'
import { checkTimeout, limited } from './step.ts'
import { textOfValue } from './values.ts'

/** The result of an agent's run in a workflow. */
export interface AgentStep<O> {
  /** The text of the answer. */
  readonly text: string
  /** The answer: its text, or the parsed value with the option `output`; null if there is none. */
  readonly output: O | null
  /** How the run ended. */
  readonly status: 'completed' | 'stopped' | 'blocked'
  /** Why it was stopped or blocked. */
  readonly reason?: string
}

export interface AgentStepOptions<O extends OutputOption | undefined = undefined> {
  /** The name of the step. @default the agent's name */
  name?: string | undefined
  /** The schema of the answer, as for `run()`. @default the answer is text */
  output?: O
  /** Maximum steps of the agent's turn. @default the agent's own */
  maxSteps?: number | undefined
  /** Most milliseconds of the agent's run. `false` sets no limit. @default 600_000 */
  timeout?: number | false | undefined
}

type RunOptions = Parameters<typeof delegate>[3]

export type AnswerOf<O> = O extends OutputOption ? OutputOf<O> : string

const known: KeysOf<AgentStepOptions> = { name: true, output: true, maxSteps: true, timeout: true }

/** @throws AlliumError `options.invalid` */
export function agentRequest(
  agent: Agent,
  input: Input,
  options: AgentStepOptions<OutputOption | undefined> = {},
): CommandRequest {
  if (typeof agent?.session !== 'function')
    throw invalidOption('ctx.agent() takes an agent first: ctx.agent(writer, "Write the letter.").')
  checkOptions(options, known, `ctx.agent("${agent.name}")`, 'options.invalid')
  const { name = agent.name, output, maxSteps, timeout = 600_000 } = options
  checkTimeout(`ctx.agent("${agent.name}")`, timeout)
  return {
    ...{ kind: 'agent', name, args: { name, agent: agent.name, input } },
    async execute({ ctx, clock }) {
      const runOptions = { ...(output !== undefined && { output }), ...(maxSteps !== undefined && { maxSteps }) }
      const run = (signal: AbortSignal) => delegate(ctx, agent, input, { ...runOptions, signal } as RunOptions)
      const result = await limited(run, { what: `The agent "${name}"`, timeout, signal: ctx.signal, clock })
      if (result === undefined) return undefined
      const { text, output: answer, status, reason } = result
      return textOfValue({ text, output: answer, status, reason }, `The answer of the agent "${name}"`)
    },
    read(result) {
      if (result.isError === true) throw failedCommand(name, result)
      return valueOfResult(result)
    },
  }
}
