import { AlliumError, isAlliumError } from '../errors/allium-error.ts'
import type { RunResult } from '../loop/run-result.ts'
import type { Input } from '../messages/message.ts'
import type { ToolAttempt } from '../rings/tool/context.ts'
import { toolAttemptOf } from '../rings/tool/context.ts'
import { followSignal } from '../seams/follow-signal.ts'
import type { RunOptions } from '../session/options.ts'
import type { SuspendRequest } from '../state/snapshot.ts'
import type { ToolExecution } from '../tool/tool.ts'
import type { Agent } from './agent.ts'
import type { AgentOptions } from './options.ts'

/**
 * Runs another agent inside a tool. Layers of the caller's agent with `inherit` stand around it, its usage is the caller's
 * too, its events go into the caller's run with a `path`, and an abort reaches it. Where it waits for a human, so does the
 * call: `session.pending` of the caller lists what waits inside, as `callId/innerCallId`, and `resume()` leads there.
 *
 * @throws AlliumError `agent.too_deep` where more than 16 agents call each other, one inside the other
 * @param options those of `run()`; `signal` ends the sub-agent alone, beside the call's own
 * @returns what the run came to; undefined where it waits, and then it does not matter what the tool returns
 *
 * @example
 * const research = { name: 'research', description: 'Finds out', schema, execute: async ({ task }, ctx) => (await delegate(ctx, researcher, task))?.text }
 */
export async function delegate<S>(
  ctx: ToolExecution,
  agent: Agent<S>,
  input: Input,
  options: RunOptions = {},
): Promise<RunResult<S> | undefined> {
  const core = toolAttemptOf(ctx)
  const { $call: call } = core
  checkDepth(core, agent.name)
  const { suspension, inner: decisions } = call.requested
  const session = agent.session({ parent: ctx })
  const before = suspension?.inner?.snapshot
  const suspend = (request: SuspendRequest) =>
    call.suspend(core, request, undefined, { agent: agent.name, snapshot: session.snapshot() })
  try {
    if (before !== undefined) session.restore(before)
    const { signal } = ctx
    const runOptions = { ...options, signal: both(signal, options.signal) }
    const run = before === undefined ? session.run(input, runOptions) : session.resume(decisions ?? {}, runOptions)
    const release = followSignal(signal, () => core.$turn.lifecycle.gracePeriod.outlasted(run))
    const result = await run.finally(release)
    if (result.status !== 'suspended') return result
    suspend({})
  } catch (error) {
    // Nothing has changed: the human is told, and may decide again.
    if (!isAlliumError(error) || !error.code.startsWith('approval.')) throw error
    suspend({ refused: error.message })
  } finally {
    await session.close()
  }
  return undefined
}

/** The model of the agent whose tool this is, and what finds one: options for an agent that answers with the same. */
export function modelOf(ctx: ToolExecution): Pick<AgentOptions, 'model' | 'resolveModel' | 'adaptModel'> {
  const { model, resolveModel, adaptModel } = toolAttemptOf(ctx).$turn.session.agent.setup
  return {
    model,
    ...(resolveModel !== undefined && { resolveModel }),
    ...(adaptModel !== undefined && { adaptModel }),
  }
}

function both(call: AbortSignal, given: AbortSignal | undefined): AbortSignal {
  return given === undefined ? call : AbortSignal.any([call, given])
}

const deepest = 16

function checkDepth({ $turn }: ToolAttempt, name: string): void {
  let depth = 2 // the one that delegates is the first
  for (let session = $turn.session.parent; session !== undefined; session = session.$turn.session.parent) depth++
  if (depth <= deepest) return
  throw new AlliumError(
    'agent.too_deep',
    `The agent "${name}" would be number ${depth} in a chain of sub-agents, and ${deepest} is the maximum. Answer without it.`,
    { expose: true },
  )
}
