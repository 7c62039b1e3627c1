import { createInterface } from 'node:readline'
import type { Decision, Session } from 'allium'
import type { CommandContext } from './command-context.ts'
import { visible } from './printable.ts'

export interface Prompter {
  /** Returns the next line; undefined at the end of input. */
  question(prompt: string): Promise<string | undefined>
  /** Asks about each pending call. Returns undefined if the input ends before all are decided. */
  decide(session: Pick<Session<object>, 'pending'>): Promise<Record<string, Decision> | undefined>
  close(): void
}

/** Asks the user in the terminal, one line per question. */
export function createPrompter({ stdin, stderr }: Pick<CommandContext, 'stdin' | 'stderr'>): Prompter {
  const input = createInterface({ input: stdin, terminal: false })
  const lines = input[Symbol.asyncIterator]()
  return { question, decide, close: () => input.close() }

  async function decide({ pending }: Pick<Session<object>, 'pending'>) {
    const decisions: Record<string, Decision> = {}
    for (const { callId, name, args, token } of pending) {
      const approved = await confirm(`Run ${visible(`${name} ${JSON.stringify(args)}`)}? [y/N] `)
      if (approved === undefined) return undefined
      decisions[callId] = approved ? { approve: true } : { deny: 'The user said no.' }
      if (token !== undefined) Object.assign(decisions[callId], { token })
    }
    return decisions
  }

  /** Asks until the answer is yes or no. Returns undefined at the end of input. */
  async function confirm(prompt: string): Promise<boolean | undefined> {
    for (;;) {
      const answer = (await question(prompt))?.trim().toLowerCase()
      if (answer === undefined) return undefined
      if (answer === 'y' || answer === 'yes') return true
      if (answer === '' || answer === 'n' || answer === 'no') return false
      stderr.write('Answer y or n.\n')
    }
  }

  async function question(prompt: string): Promise<string | undefined> {
    if (stdin.isTTY === true) stderr.write(prompt)
    const { done, value } = await lines.next()
    return done === true ? undefined : value
  }
}
