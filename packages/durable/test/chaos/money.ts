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
  if (spent < due || estimated < cut || estimated > cut + doubtful || rest > partial)
    problems.push(
      `model calls have cost ${due} tokens, and ${cut} to ${cut + doubtful} were cut, but ${spent} were spent: by ${estimated} estimates and ${rest} tokens more`,
    )
  if (reserved !== 0) problems.push(`${reserved} tokens are still held`)
  return problems
}

interface Call {
  readonly step: string
  readonly pid: number
  cost?: number
  isHeld?: boolean
  isAnswered?: boolean
  isLeft?: boolean
  /** Its process has told what it cost, also where it was killed before the step was recorded. */
  isSettled?: boolean
}

/** What is due for certain, with the number of calls that were cut, and those of which only the ledger knows how they were posted. */
function dueOf(notes: readonly Noted[]) {
  const { calls, recorded } = callsOf(notes)
  const killed = new Set(
    notes.flatMap((note) => (note.what === 'stopped' && note.signal === 'SIGKILL' ? [note.pid] : [])),
  )
  const last = new Map(calls.filter(({ cost }) => cost !== undefined).map((call) => [call.step, call]))
  const due = { due: 0, cut: 0, doubtful: 0, partial: 0 }
  for (const call of calls) {
    const { step, pid, cost = 0, isHeld = false, isAnswered = false, isLeft = false, isSettled = false } = call
    // Where nobody has asked again, it was recorded, though its process was killed before it could say so.
    const isRecorded = recorded.get(step) === pid || (isAnswered && !recorded.has(step))
    if (last.get(step) === call && isRecorded) due.due += cost
    else if (killed.has(pid) && isSettled && !isLeft) due.due += cost
    else if (killed.has(pid) && cost > 0 && isHeld && !isLeft) {
      due.due += cost
      due.cut++
    } else {
      due.doubtful++
      due.partial += 1000
    }
  }
  return due
}

/** The calls in their order, and which process has recorded each step. */
function callsOf(notes: readonly Noted[]) {
  const calls: Call[] = []
  const now = new Map<string, Call>()
  const byCall = new Map<string, Call>()
  const recorded = new Map<string, number>()
  for (const note of notes) {
    const place = 'step' in note ? `${note.pid} ${note.step}` : ''
    if (note.what === 'recorded') recorded.set(note.step, note.pid)
    if (note.what === 'holding') {
      const call = { step: note.step, pid: note.pid }
      calls.push(call)
      now.set(place, call)
    }
    const call = 'call' in note ? (byCall.get(note.call) ?? now.get(place)) : now.get(place)
    if (call === undefined) continue
    if (note.what === 'held') call.isHeld = true
    if (note.what === 'settled') call.isSettled = true
    if (note.what === 'answered') call.isAnswered = true
    if (note.what === 'left') call.isLeft = true
    if (note.what === 'asked') {
      call.cost = note.cost
      byCall.set(note.call, call)
    }
  }
  return { calls, recorded }
}
