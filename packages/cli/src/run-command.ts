import { text } from 'node:stream/consumers'
import type { Arguments } from './arguments.ts'
import type { CommandContext } from './command-context.ts'
import { codeOf, interrupted, UsageError } from './exit-codes.ts'
import { openAgent } from './open-agent.ts'
import { printRun, statusLine } from './print-run.ts'
import { printable, visible } from './printable.ts'

/** `allium run`: runs one turn. Returns the exit code. Throws the error of the run. */
export async function runCommand(args: Arguments, context: CommandContext): Promise<number> {
  const prompt = args.prompt ?? (await promptOf(context))
  const { agent, trace, isStored, close } = await openAgent(args, context, false)
  const { principal, json, session: id } = args
  const session = agent.session({ id, principal })
  const stop = new AbortController()
  const onInterrupt = () => stop.abort(interrupted)
  context.on('SIGINT', onInterrupt)
  try {
    const outcome = await printRun(session.run(prompt, { signal: stop.signal }), json, context)
    for (const turnId of outcome.turnIds) trace(turnId)
    if ('error' in outcome) throw outcome.error
    const { pending } = outcome.result
    const callList = pending.map(({ name, callId }) => `${visible(name)} (${visible(callId)})`).join(', ')
    if (callList !== '')
      printLine(`The turn is waiting for approval: ${callList}. ${resumeHint(isStored ? id : undefined)}`)
    else if (outcome.result.status !== 'completed') printLine(statusLine(outcome.result))
    return codeOf(outcome.result)
  } finally {
    context.off('SIGINT', onInterrupt)
    await session.close()
    await close()
  }

  function printLine(line: string): void {
    if (!args.json) context.stderr.write(`${printable(line)}\n`)
  }
}

async function promptOf({ stdin }: CommandContext): Promise<string> {
  const prompt = stdin.isTTY === true ? '' : (await text(stdin)).trim()
  if (prompt === '') throw new UsageError('No prompt was given. Write it in quotes: allium run "What is an onion?"')
  return prompt
}

function resumeHint(id: string | undefined): string {
  return id === undefined
    ? 'Use allium chat, which asks you. Or store the session with --store and --session, and decide with allium resume.'
    : `Decide it: allium resume ${visible(id)}`
}
