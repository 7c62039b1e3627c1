import { type Clock, isAlliumError, messageOf, noUsage, type PartialResult } from '@allium/core'
import { resultText } from '@allium/core/internal'
import type { NamedCase } from '../cases/case.ts'
import type { EvalCall, TrialReport } from '../report/report.ts'
import type { EvalAgent, EvalResult, EvalRunOptions } from './agent.ts'
import type { Answers } from './answers.ts'
import type { EvalRun } from './run.ts'
import { DecisionWatch } from './watch-decisions.ts'

export interface TrialSetup {
  readonly agent: EvalAgent
  readonly runOptions: EvalRunOptions
  /** Milliseconds. */
  readonly timeout: number
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly answers: Answers | undefined
}

/** Runs a case once, in a new session. Rejects only if `signal` was aborted. */
export async function runTrial<E>(
  { agent, runOptions, timeout, clock, signal, answers }: TrialSetup,
  one: NamedCase<E>,
  trial: number,
  baseline: EvalRun<E>['baseline'],
): Promise<EvalRun<E>> {
  const watched = new DecisionWatch()
  const recorded = answers?.trial(one.id, trial)
  const { use = [], ...journal } = recorded?.runOptions() ?? {}
  const limit = new AbortController()
  const cancel = clock.after(timeout, () => limit.abort(new Error(`No answer after ${timeout} ms.`)))
  const started = clock.monotonic()
  const options = {
    ...runOptions,
    ...journal,
    // The last layer wraps the others. Inside a wrapper that awaits something first, it would miss that a layer's next() ran.
    use: [...use, watched.layer],
    signal: AbortSignal.any([signal, limit.signal]),
    session: sessionOf(one),
  }
  const ended = (result: EvalResult | undefined, rest: Pick<TrialReport, 'status' | 'reason' | 'text'>) => {
    const [missing] = recorded?.missing ?? []
    const { output = null, messages = [], toolCalls = [], usage = noUsage() } = result ?? {}
    return {
      ...rest,
      // A layer may have replaced the error by an answer, but the agent was not asked.
      ...(missing !== undefined && { status: 'lost' as const, reason: missing }),
      case: one,
      expected: one.expected,
      trial,
      output,
      messages,
      calls: toolCalls.map(callOf),
      decisions: watched.decisions(toolCalls),
      usage: { ...usage },
      steps: messages.filter(({ role }) => role === 'assistant').length,
      duration: Math.max(0, clock.monotonic() - started),
      answers: recorded,
      baseline,
      signal,
    }
  }
  try {
    const result = await agent.run(one.input, options as never)
    const { status, reason, text } = result
    return ended(result, { status, text, ...(reason !== undefined && { reason }) })
  } catch (error) {
    signal.throwIfAborted()
    const { partial } = (error ?? {}) as { partial?: PartialResult }
    const part = partial && { ...partial, status: 'stopped' as const, output: null, toolCalls: [] }
    const reason = messageOf(limit.signal.aborted ? limit.signal.reason : error).slice(0, 500)
    // The answer itself is wrong. Other errors may come from a provider that is down, and say nothing about the agent.
    const status = isAlliumError(error, 'output.invalid') ? 'failed' : 'lost'
    return ended(part, { status, reason, text: partial?.text ?? '' })
  } finally {
    cancel()
  }
}

function sessionOf({ principal, context }: NamedCase): { principal?: unknown; context?: unknown } {
  return { ...(principal !== undefined && { principal }), ...(context !== undefined && { context }) }
}

function callOf({ name, args, result }: EvalResult['toolCalls'][number]): EvalCall {
  return { name, args, status: result.status, content: resultText(result.content) }
}
