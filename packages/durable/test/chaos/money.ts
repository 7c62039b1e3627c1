import type { Noted } from './notes.ts'
import { account, more, type Opened } from './scene.ts'

/**
 * To the token. A call whose step was recorded is posted as what it cost, whichever process did it; one that was cut, by its estimate,
 * which is `more` above that; nothing is held any more.
 */
export async function moneyProblems({ ledger }: Opened, notes: readonly Noted[]): Promise<string[]> {
  const problems: string[] = []
  const { due, cut, doubtful, partial } = dueOf(notes)
  const { spent, reserved } = await ledger.balance(account)
  const [estimated, rest] = [Math.floor((spent - due) / more), (spent - due) % more]
  if (spent < due || estimated < cut || estimated > cut + doubtful.length || rest > partial)
    problems.push(
      `model calls have cost ${due} tokens, and ${cut} to ${cut + doubtful.length} were cut, but ${spent} were spent: by ${estimated} estimates and ${rest} tokens more`,
    )
  if (reserved !== 0) problems.push(`${reserved} tokens are still held`)
  return problems
}

interface Call {
  readonly step: string
  readonly pid: number
  cost?: number
  isHeld?: boolean
  isLeft?: boolean
  /** Its process has told what it cost, also where it was killed before the step was recorded. */
  isSettled?: boolean
}

/** What is due for certain, with the number of calls that were cut, and those of which only the ledger knows how they were posted. */
function dueOf(notes: readonly Noted[]) {
  const calls = new Map<string, Call>()
  const byCall = new Map<string, Call>()
  const recorded = new Map<string, number>()
  const killed = new Set(
    notes.flatMap((note) => (note.what === 'stopped' && note.signal === 'SIGKILL' ? [note.pid] : [])),
  )
  for (const note of notes) {
    if (note.what === 'recorded') recorded.set(note.step, note.pid)
    if (note.what === 'holding') calls.set(`${note.pid} ${note.step}`, { step: note.step, pid: note.pid })
    const call = 'step' in note ? calls.get(`${note.pid} ${note.step}`) : undefined
    if (note.what === 'held' && call !== undefined) call.isHeld = true
    if (note.what === 'settled' && call !== undefined) call.isSettled = true
    if (note.what === 'asked' && call !== undefined) {
      call.cost = note.cost
      byCall.set(note.call, call)
    }
    const ended = 'call' in note ? byCall.get(note.call) : undefined
    if (note.what === 'left' && ended !== undefined) ended.isLeft = true
  }
  const due = { due: 0, cut: 0, doubtful: [] as Call[], partial: 0 }
  for (const call of calls.values()) {
    const { step, pid, cost = 0, isHeld = false, isLeft = false, isSettled = false } = call
    if (recorded.get(step) === pid || (isSettled && !isLeft && killed.has(pid))) due.due += cost
    else if (killed.has(pid) && cost > 0 && isHeld && !isLeft) {
      due.due += cost
      due.cut++
    } else {
      due.doubtful.push(call)
      due.partial += 1000
    }
  }
  return due
}
