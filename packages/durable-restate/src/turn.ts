import {
  isAlliumError,
  type Journal,
  type PendingCall,
  type RegisteredPrincipal,
  type RunResult,
  type Session,
  type Snapshot,
  type Usage,
} from '@allium/core'
import { decodeOutcome, encodeOutcome } from '@allium/store'
import { checkRecordedCode } from '@allium/store/code-shape'
import type { RestateAgent } from './restate-agent.ts'
import { type Task, turnIdOf } from './task.ts'
import { isTerminal, isTransient } from './terminal-errors.ts'

/** The stored result of a run. */
export interface DurableResult {
  readonly status: RunResult['status']
  readonly reason?: string | undefined
  readonly text: string
  readonly output?: unknown
  readonly usage: Usage
  /** Pending calls, with their tokens: `start({ decisions })` resumes the run. */
  readonly pending: readonly PendingCall[]
  readonly turnId: string
  readonly sessionId: string
}

/** The encoded outcome of a run, and its session if no store of the agent has it. */
export interface TurnOutput {
  readonly outcome: string
  readonly snapshot?: string | undefined
}

export interface TurnOptions {
  readonly agent: RestateAgent
  readonly task: Task
  readonly principal: RegisteredPrincipal | undefined
  /** The session as Restate has stored it. */
  readonly snapshot: string | null
}

/** Runs a task in its session. */
export async function runTurn(options: TurnOptions, journal: Journal, signal: AbortSignal): Promise<TurnOutput> {
  const { agent, task, principal, snapshot } = options
  await agent.init()
  await checkRecordedCode(agent, journal, turnIdOf(task))
  const session = agent.session({ id: task.sessionId, principal: principal as never })
  try {
    if (isStoredElsewhere(session)) {
      await session.open()
      return { outcome: await outcomeOf(session, task, journal, signal) }
    }
    if (snapshot !== null) session.restore(resultOf(snapshot) as Snapshot)
    const outcome = await outcomeOf(session, task, journal, signal)
    return { outcome, snapshot: encodeOutcome({ result: session.snapshot() }) }
  } finally {
    await session.close()
  }
}

/** Returns whether a layer restores the session. Such a session cannot be read before it is open. */
function isStoredElsewhere(session: Session<unknown, unknown>): boolean {
  try {
    session.snapshot()
    return false
  } catch (error) {
    if (isAlliumError(error) && error.code === 'session.not_open') return true
    throw error
  }
}

/** Returns the outcome of a turn. A failed or aborted turn has ended, so only terminal and transient errors are thrown. */
async function outcomeOf(
  session: Session<unknown, unknown>,
  task: Task,
  journal: Journal,
  signal: AbortSignal,
): Promise<string> {
  const options = { turnId: turnIdOf(task), journal, signal }
  const { decisions, approver } = task
  try {
    const run =
      decisions === undefined
        ? session.run(task.input ?? '', options)
        : session.resume(decisions, { ...options, ...(approver !== undefined && { approver }) })
    const { status, reason, text, output, usage, pending, turnId, sessionId } = await run
    const result: DurableResult = { status, reason, text, output, usage, pending, turnId, sessionId }
    return encodeOutcome({ result })
  } catch (error) {
    if (isTerminal(error) || isTransient(error)) throw error
    return encodeOutcome({ error })
  }
}

/** Returns the result of an outcome, or throws its error. @throws AlliumError `journal.corrupt` */
export function resultOf(outcome: string): unknown {
  const decoded = decodeOutcome(outcome)
  if ('error' in decoded) throw decoded.error
  return decoded.result
}
