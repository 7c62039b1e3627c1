import { createInterface } from 'node:readline'
import { type Decision, messageOf, type Session } from 'allium'
import type { Arguments } from './arguments.ts'
import { exitCodes, interrupted } from './exit-codes.ts'
import { openAgent } from './open-agent.ts'
import { printable, visible } from './printable.ts'
import { endOf, errorFields, type Shown, showRun, toLine } from './show-run.ts'
import type { Surroundings } from './surroundings.ts'

/** `allium chat`: turns of one session, a line each. A mistake in one turn does not end it; the config is read again when it changes. */
export async function chatCommand(given: Arguments, around: Surroundings): Promise<number> {
  const { stdin, stdout, stderr } = around
  const { agent, trace } = await openAgent(given, around, true)
  const session = agent.session({ principal: given.principal })
  const input = createInterface({ input: stdin, terminal: false })
  const lines = input[Symbol.asyncIterator]()
  let running = false
  const onInterrupt = () => (running ? session.abort(interrupted) : input.close())
  around.on('SIGINT', onInterrupt)
  try {
    for (;;) {
      const line = await ask('> ')
      if (line === undefined || line.trim() === '/exit')
        return session.pending.length > 0 ? exitCodes.suspended : exitCodes.ok
      if (line.trim() !== '') await answer(line)
    }
  } finally {
    around.off('SIGINT', onInterrupt)
    input.close()
    await session.close()
    await agent.dispose()
  }

  async function answer(line: string): Promise<void> {
    let shown = await show(session.run(line))
    while ('result' in shown && shown.result.status === 'suspended') {
      const decisions = await decide(session)
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

  async function decide({ pending }: Session<object>) {
    const decisions: Record<string, Decision> = {}
    for (const { callId, name, args, token } of pending) {
      const approved = await agrees(`Run ${visible(`${name} ${JSON.stringify(args)}`)}? [y/N] `)
      if (approved === undefined) return undefined
      decisions[callId] = approved ? { approve: true } : { deny: 'The user said no.' }
      if (token !== undefined) Object.assign(decisions[callId], { token })
    }
    return decisions
  }

  /** Asks until the answer is one; undefined at the end of input. */
  async function agrees(question: string): Promise<boolean | undefined> {
    for (;;) {
      const said = (await ask(question))?.trim().toLowerCase()
      if (said === undefined) return undefined
      if (said === 'y' || said === 'yes') return true
      if (said === '' || said === 'n' || said === 'no') return false
      stderr.write('Answer y or n.\n')
    }
  }

  async function ask(question: string): Promise<string | undefined> {
    if (stdin.isTTY === true) stderr.write(question)
    const { done, value } = await lines.next()
    return done === true ? undefined : value
  }
}
