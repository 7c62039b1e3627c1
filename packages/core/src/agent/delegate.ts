import { AlliumError, isAlliumError } from '../errors/allium-error.ts'
import type { Input } from '../messages/message.ts'
import { followSignal } from '../ports/follow-signal.ts'
import type { RunOptions } from '../session/options.ts'
import type { SuspendRequest } from '../state/snapshot.ts'
import { ToolAttempt } from '../tool/scope/context.ts'
import type { ToolExecution } from '../tool/tool.ts'
import type { RunResult } from '../turn/run-result.ts'
import type { Agent } from './agent.ts'
import type { AgentOptions } from './options.ts'
import { layerOf } from './scope/context.ts'

/**
 * Runs another agent inside a tool. The caller's layers with `inherit` wrap it, its usage counts for the caller too, its events
 * go to the caller's run with a `path`, and an abort of the run reaches it. If the sub-agent suspends, the call suspends too:
 * the caller's `session.pending` lists its pending calls as `callId/innerCallId`, and `resume()` passes the decisions to it.
 *
 * @throws AlliumError `agent.too_deep` if more than 16 agents call each other in a chain
 * @param options those of `run()`; `signal` cancels only the sub-agent, in addition to the call's own signal
 * @returns the result of the run; undefined if it suspended, in which case the tool's return value is ignored
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
  const core = layerOf('delegate()', ctx, ToolAttempt)
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
    const { clock, agent: caller } = core.$turn.session
    const given = clock === caller.setup.clock ? undefined : clock
    const runOptions = { clock: given, ...options, signal: both(signal, options.signal) }
    const run = before === undefined ? session.run(input, runOptions) : session.resume(decisions ?? {}, runOptions)
    const release = followSignal(signal, () => core.$turn.lifecycle.gracePeriod.outlasted(run))
    const result = await run.finally(release)
    if (result.status !== 'suspended') return result
    suspend({})
  } catch (error) {
    // Nothing has changed, so the call suspends again with the reason, and the human can decide again.
    if (!isAlliumError(error) || !error.code.startsWith('approval.')) throw error
    suspend({ refused: error.message })
  } finally {
    await session.close()
  }
  return undefined
}

/** Returns the options for an agent that uses the same model as the agent of this tool: the model and its resolvers. */
export function modelOf(ctx: ToolExecution): Pick<AgentOptions, 'model' | 'resolveModel' | 'adaptModel'> {
  const { model, resolveModel, adaptModel } = layerOf('modelOf()', ctx, ToolAttempt).$turn.session.agent.setup
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
  let depth = 2 // the agent that delegates is the first
  for (let session = $turn.session.parent; session !== undefined; session = session.$turn.session.parent) depth++
  if (depth <= deepest) return
  throw new AlliumError(
    'agent.too_deep',
    `The agent "${name}" would be at depth ${depth} of nested agents. The maximum is ${deepest}. Answer without it.`,
    { expose: true },
  )
}
