import { messageOf, type Session } from 'allium'
import type { Arguments } from './arguments.ts'
import type { CommandContext } from './command-context.ts'
import { exitCodes, interrupted } from './exit-codes.ts'
import { openAgent } from './open-agent.ts'
import { errorFields, printRun, type RunOutcome, statusLine, toLine } from './print-run.ts'
import { printable } from './printable.ts'
import { createPrompter } from './prompter.ts'

/** `allium chat`: turns of one session, one per line. An error in a turn does not end the chat. The config is reloaded when it changes. */
export async function chatCommand(args: Arguments, context: CommandContext): Promise<number> {
  const { stdout, stderr } = context
  const { agent, trace, close } = await openAgent(args, context, true)
  const session = agent.session({ id: args.session, principal: args.principal })
  const prompter = createPrompter(context)
  let running = false
  const onInterrupt = () => (running ? session.abort(interrupted) : prompter.close())
  context.on('SIGINT', onInterrupt)
  try {
    for (;;) {
      const line = await prompter.question('> ')
      if (line === undefined || line.trim() === '/exit')
        return session.pending.length > 0 ? exitCodes.suspended : exitCodes.ok
      if (line.trim() !== '') await respond(line)
    }
  } finally {
    context.off('SIGINT', onInterrupt)
    prompter.close()
    await session.close()
    await close()
  }

  async function respond(line: string): Promise<void> {
    let outcome = await printTurn(session.run(line))
    while ('result' in outcome && outcome.result.status === 'suspended') {
      const decisions = await prompter.decide(session)
      if (decisions === undefined) return
      outcome = await printTurn(session.resume(decisions))
    }
  }

  async function printTurn(run: ReturnType<Session['run']>): Promise<RunOutcome> {
    running = true
    const outcome = await printRun(run, args.json, context)
    running = false
    for (const turnId of outcome.turnIds) trace(turnId)
    if ('error' in outcome) {
      if (args.json) stdout.write(`${toLine({ type: 'error', ...errorFields(outcome.error) })}\n`)
      else stderr.write(`${printable(messageOf(outcome.error))}\n`)
    } else if (!['completed', 'suspended'].includes(outcome.result.status) && !args.json)
      stderr.write(`${printable(statusLine(outcome.result))}\n`)
    return outcome
  }
}
