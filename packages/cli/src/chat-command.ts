import { messageOf, type Session } from 'allium'
import type { Arguments } from './arguments.ts'
import { asking } from './ask.ts'
import { exitCodes, interrupted } from './exit-codes.ts'
import { openAgent } from './open-agent.ts'
import { printable } from './printable.ts'
import { endOf, errorFields, type Shown, showRun, toLine } from './show-run.ts'
import type { Surroundings } from './surroundings.ts'

/** `allium chat`: turns of one session, a line each. A mistake in one turn does not end it; the config is read again when it changes. */
export async function chatCommand(given: Arguments, around: Surroundings): Promise<number> {
  const { stdout, stderr } = around
  const { agent, trace, close } = await openAgent(given, around, true)
  const session = agent.session({ id: given.session, principal: given.principal })
  const input = asking(around)
  let running = false
  const onInterrupt = () => (running ? session.abort(interrupted) : input.close())
  around.on('SIGINT', onInterrupt)
  try {
    for (;;) {
      const line = await input.ask('> ')
      if (line === undefined || line.trim() === '/exit')
        return session.pending.length > 0 ? exitCodes.suspended : exitCodes.ok
      if (line.trim() !== '') await answer(line)
    }
  } finally {
    around.off('SIGINT', onInterrupt)
    input.close()
    await session.close()
    await close()
  }

  async function answer(line: string): Promise<void> {
    let shown = await show(session.run(line))
    while ('result' in shown && shown.result.status === 'suspended') {
      const decisions = await input.decide(session)
      if (decisions === undefined) return
      shown = await show(session.resume(decisions))
    }
  }

  async function show(run: ReturnType<Session['run']>): Promise<Shown> {
    running = true
    const shown = await showRun(run, given.json, around)
    running = false
    if (shown.turnId !== undefined) trace(shown.turnId)
    if ('error' in shown) {
      if (given.json) stdout.write(`${toLine({ type: 'error', ...errorFields(shown.error) })}\n`)
      else stderr.write(`${printable(messageOf(shown.error))}\n`)
    } else if (!['completed', 'suspended'].includes(shown.result.status) && !given.json)
      stderr.write(`${printable(endOf(shown.result))}\n`)
    return shown
  }
}
