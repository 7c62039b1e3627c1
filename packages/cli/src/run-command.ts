import { text } from 'node:stream/consumers'
import type { Arguments } from './arguments.ts'
import { codeOf, interrupted, UsageError } from './exit-codes.ts'
import { openAgent } from './open-agent.ts'
import { printable, visible } from './printable.ts'
import { endOf, showRun } from './show-run.ts'
import type { Surroundings } from './surroundings.ts'

/** `allium run`: one turn. Gives the exit code; throws what it failed with. */
export async function runCommand(given: Arguments, around: Surroundings): Promise<number> {
  const prompt = given.prompt ?? (await promptOf(around))
  const { agent, trace, isStored, close } = await openAgent(given, around, false)
  const stop = new AbortController()
  const onInterrupt = () => stop.abort(interrupted)
  around.on('SIGINT', onInterrupt)
  try {
    const { principal, json, session: id } = given
    const run = agent.run(prompt, { signal: stop.signal, session: { id, principal } })
    const shown = await showRun(run, json, around)
    if (shown.turnId !== undefined) trace(shown.turnId)
    if ('error' in shown) throw shown.error
    const { pending } = shown.result
    const waits = pending.map(({ name, callId }) => `${visible(name)} (${visible(callId)})`).join(', ')
    if (waits !== '') tell(`The turn waits for approval: ${waits}. ${howToDecide(isStored ? id : undefined)}`)
    else if (shown.result.status !== 'completed') tell(endOf(shown.result))
    return codeOf(shown.result)
  } finally {
    around.off('SIGINT', onInterrupt)
    await close()
  }

  function tell(line: string): void {
    if (!given.json) around.stderr.write(`${printable(line)}\n`)
  }
}

async function promptOf({ stdin }: Surroundings): Promise<string> {
  const prompt = stdin.isTTY === true ? '' : (await text(stdin)).trim()
  if (prompt === '') throw new UsageError('There is no prompt. Write it in quotes: allium run "What is an onion?"')
  return prompt
}

function howToDecide(id: string | undefined): string {
  return id === undefined
    ? 'Run it in allium chat, which asks; or keep it, with --store and --session, and decide it with allium resume.'
    : `Decide it: allium resume ${visible(id)}`
}
