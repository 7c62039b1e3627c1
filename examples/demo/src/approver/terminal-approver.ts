import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import type { Approval } from 'allium'
import type { Screen } from '../screen/screen.ts'
import type { Approver } from './approver.ts'

/** Asks the person at the terminal. Denies the call if the input ends without an answer. */
export function terminalApprover(input: Readable, screen: Screen): Approver {
  return async (_, signal) => {
    for (;;) {
      screen.prompt('person', 'Approve? y, n, or n and the reason:')
      const line = await readLine(input, signal)
      if (line === undefined) {
        screen.gap()
        return { deny: 'There was no answer.' }
      }
      const approval = toApproval(line)
      if (approval !== undefined) return approval
    }
  }
}

function toApproval(line: string): Approval | undefined {
  const [, word = '', reason = ''] = /^\s*(\p{L}*)[\s,:]*(.*?)\s*$/u.exec(line) ?? []
  if (/^y(es)?$/i.test(word) && reason === '') return { approve: true }
  if (/^no?$/i.test(word)) return { deny: reason === '' ? 'The approver says no.' : `The approver says no: ${reason}` }
  return undefined
}

/** Returns the next line, or undefined at the end of the input. The terminal itself edits the line, so Ctrl-C is still a signal. */
async function readLine(input: Readable, signal: AbortSignal): Promise<string | undefined> {
  signal.throwIfAborted()
  if (input.readableEnded) return undefined
  const lines = createInterface({ input, terminal: false, signal })
  try {
    for await (const line of lines) return line
    signal.throwIfAborted()
    return undefined
  } finally {
    lines.close()
    input.pause() // reading from the terminal would keep the process alive
  }
}
