import { text } from 'node:stream/consumers'
import type { Arguments } from './arguments.ts'
import { codeOf, UsageError } from './exit-codes.ts'
import { openAgent } from './open-agent.ts'
import { printable } from './printable.ts'
import { showRun } from './show-run.ts'
import type { Surroundings } from './surroundings.ts'

/** `allium run`: one turn. Gives the exit code; throws what it failed with. */
export async function runCommand(given: Arguments, around: Surroundings): Promise<number> {
  const prompt = given.prompt ?? (await promptOf(around))
  const { agent, trace } = await openAgent(given, around, false)
  const stop = new AbortController()
  const onInterrupt = () => stop.abort(new DOMException('Ctrl-C', 'AbortError'))
  around.on('SIGINT', onInterrupt)
  try {
    const shown = await showRun(agent.run(prompt, { signal: stop.signal }), given.json, around)
    if (shown.turnId !== undefined) trace(shown.turnId)
    if ('error' in shown) throw shown.error
    const { status, reason, pending } = shown.result
    const waits = pending.map(({ name, callId }) => `${name} (${callId})`).join(', ')
    if (status !== 'completed' && !given.json)
      around.stderr.write(
        `${printable(`The turn was ${status}${reason === undefined ? '' : `: ${reason}`}${waits === '' ? '' : `: ${waits}`}`)}\n`,
      )
    return codeOf(shown.result)
  } finally {
    around.off('SIGINT', onInterrupt)
    await agent.dispose()
  }
}

async function promptOf({ stdin }: Surroundings): Promise<string> {
  const prompt = stdin.isTTY === true ? '' : (await text(stdin)).trim()
  if (prompt === '') throw new UsageError('There is no prompt. Write it in quotes: allium run "What is an onion?"')
  return prompt
}
