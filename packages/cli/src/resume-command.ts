import { AlliumError, type RunResult, type Session } from 'allium'
import type { Arguments } from './arguments.ts'
import type { CommandContext } from './command-context.ts'
import { codeOf, exitCodes, interrupted, UsageError } from './exit-codes.ts'
import { openAgent } from './open-agent.ts'
import { printRun, statusLine } from './print-run.ts'
import { printable } from './printable.ts'
import { createPrompter } from './prompter.ts'

/**
 * `allium resume`: decides the pending calls of a stored session, or continues one whose process was lost. Returns the exit code. Throws
 * the error of the run.
 */
export async function resumeCommand(args: Arguments, context: CommandContext): Promise<number> {
  const { session: id, principal, prompt, json } = args
  if (id === undefined) throw new UsageError('No session was given. Name it: allium resume <session>')
  const openedAgent = await openAgent(args, context, false)
  if (!openedAgent.isStored) {
    await openedAgent.close()
    throw new UsageError('No store was given. Name the store of the session: --store allium.db, or ALLIUM_STORE.')
  }
  const session = openedAgent.agent.session({ id, principal })
  const onInterrupt = () => session.abort(interrupted)
  const prompter = createPrompter(context)
  context.on('SIGINT', onInterrupt)
  try {
    await session.open()
    if (session.history.length === 0 && session.pending.length === 0) throw notFound(id)
    if (session.pending.length > 0) return await resumeUntilDone()
    if (prompt !== undefined) return codeOf(await printTurn(session.run(prompt)))
    throw new UsageError(`The session "${id}" has no pending calls. Continue it with a prompt: allium resume ${id} "…"`)
  } finally {
    context.off('SIGINT', onInterrupt)
    prompter.close()
    await session.close()
    await openedAgent.close()
  }

  async function resumeUntilDone(): Promise<number> {
    for (;;) {
      const decisions = await prompter.decide(session)
      if (decisions === undefined) return exitCodes.suspended
      const result = await printTurn(session.resume(decisions))
      if (result.status !== 'suspended') return codeOf(result)
    }
  }

  async function printTurn(run: ReturnType<Session['run']>): Promise<RunResult> {
    const outcome = await printRun(run, json, context)
    for (const turnId of outcome.turnIds) openedAgent.trace(turnId)
    if ('error' in outcome) throw outcome.error
    const { result } = outcome
    if (!json && !['completed', 'suspended'].includes(result.status))
      context.stderr.write(`${printable(statusLine(result))}\n`)
    return result
  }
}

function notFound(id: string): AlliumError {
  return new AlliumError(
    'session.not_found',
    `The store has no session "${id}" of this principal. Pass the --principal that started the session.`,
    { details: { sessionId: id } },
  )
}
