import { createInterface } from 'node:readline'
import type { Decision, Session } from 'allium'
import { visible } from './printable.ts'
import type { Surroundings } from './surroundings.ts'

export interface Asking {
  /** The next line; undefined at the end of input. */
  ask(question: string): Promise<string | undefined>
  /** Asks about each call that waits; undefined where the input ends before all are decided. */
  decide(session: Pick<Session<object>, 'pending'>): Promise<Record<string, Decision> | undefined>
  close(): void
}

/** Questions to who sits before the terminal, a line each. */
export function asking({ stdin, stderr }: Pick<Surroundings, 'stdin' | 'stderr'>): Asking {
  const input = createInterface({ input: stdin, terminal: false })
  const lines = input[Symbol.asyncIterator]()
  return { ask, decide, close: () => input.close() }

  async function decide({ pending }: Pick<Session<object>, 'pending'>) {
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
