import { messageOf } from 'allium'
import { scriptedApprover } from './approver/scripted-approver.ts'
import { terminalApprover } from './approver/terminal-approver.ts'
import { runDemo } from './demo.ts'
import { chooseModel } from './models/choose-model.ts'
import { printable } from './screen/printable.ts'
import { createScreen } from './screen/screen.ts'

const screen = createScreen(process.stdout)
const someone = process.stdin.isTTY && process.stdout.isTTY
const approver = someone ? terminalApprover(process.stdin, screen) : scriptedApprover(screen)
const interrupt = new AbortController()
// Only once: a second Ctrl-C ends the process immediately.
process.once('SIGINT', () => interrupt.abort(new DOMException('Ctrl-C', 'AbortError')))

try {
  const chosen = await chooseModel()
  try {
    await runDemo(chosen, approver, screen, interrupt.signal)
  } finally {
    await chosen.close()
  }
} catch (error) {
  process.exitCode = interrupt.signal.aborted ? 130 : 1
  if (interrupt.signal.aborted) screen.line('\nstopped', 'Ctrl-C: the run was aborted and all resources were closed.')
  else console.error(`\n${printable(messageOf(error))}`)
}
