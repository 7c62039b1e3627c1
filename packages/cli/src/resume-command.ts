import { AlliumError, type RunResult, type Session } from 'allium'
import type { Arguments } from './arguments.ts'
import { asking } from './ask.ts'
import { codeOf, exitCodes, interrupted, UsageError } from './exit-codes.ts'
import { openAgent } from './open-agent.ts'
import { printable } from './printable.ts'
import { endOf, showRun } from './show-run.ts'
import type { Surroundings } from './surroundings.ts'

/** `allium resume`: decides what waits in a stored session, or goes on with one whose process was lost. Gives the exit code; throws what it failed with. */
export async function resumeCommand(given: Arguments, around: Surroundings): Promise<number> {
  const { session: id, principal, prompt, json } = given
  if (id === undefined) throw new UsageError('There is no session. Name it: allium resume <session>')
  const opened = await openAgent(given, around, false)
  if (!opened.isStored) {
    await opened.close()
    throw new UsageError('Nothing is stored. Say where the session is: --store allium.db, or ALLIUM_STORE.')
  }
  const session = opened.agent.session({ id, principal })
  const onInterrupt = () => session.abort(interrupted)
  const input = asking(around)
  around.on('SIGINT', onInterrupt)
  try {
    await session.open()
    if (session.history.length === 0 && session.pending.length === 0) throw notFound(id)
    if (session.pending.length > 0) return await decided(session)
    if (prompt !== undefined) return codeOf(await shown(session.run(prompt)))
    throw new UsageError(`Nothing waits in the session "${id}". Go on with a prompt: allium resume ${id} "…"`)
  } finally {
    around.off('SIGINT', onInterrupt)
    input.close()
    await session.close()
    await opened.close()
  }

  async function decided(session: Session): Promise<number> {
    for (;;) {
      const decisions = await input.decide(session)
      if (decisions === undefined) return exitCodes.suspended
      const result = await shown(session.resume(decisions))
      if (result.status !== 'suspended') return codeOf(result)
    }
  }

  async function shown(run: ReturnType<Session['run']>): Promise<RunResult> {
    const shown = await showRun(run, json, around)
    if (shown.turnId !== undefined) opened.trace(shown.turnId)
    if ('error' in shown) throw shown.error
    const { result } = shown
    if (!json && !['completed', 'suspended'].includes(result.status))
      around.stderr.write(`${printable(endOf(result))}\n`)
    return result
  }
}

function notFound(id: string): AlliumError {
  return new AlliumError(
    'session.not_found',
    `There is no session "${id}" in the store for who asks. Sessions are found under their principal: give the --principal that began it.`,
    { details: { sessionId: id } },
  )
}
