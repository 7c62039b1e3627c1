import type { Noted } from './notes.ts'

/** How long the ends of runs took to reach the event log. */
export interface EndTimes {
  /** From the turn's commit to its end in the log, in heartbeats, where no process of the run was lost in between. */
  readonly quiet: number[]
  /** From the loss of the process to the end in the log, in leases. */
  readonly lost: number[]
}

/** A heartbeat is a third of a lease. */
const heartbeats = 3

export function endTimes(notes: readonly Noted[], lease: number): EndTimes {
  const times: EndTimes = { quiet: [], lost: [] }
  const committed = new Map<string, number>()
  const owners = new Map<string, number>()
  const losses = new Map<string, number>()
  let suspectAt = Number.NEGATIVE_INFINITY
  for (const note of notes) {
    if (note.what === 'taken') {
      // A process that runs a suspected run takes nothing else for a lease.
      if (note.attempts >= 3) suspectAt = note.at
      owners.set(note.session, note.pid)
    }
    if (note.what === 'written' && note.op === 'append') committed.set(note.run, note.at)
    if (note.what === 'stopped') for (const [session, pid] of owners) if (pid === note.pid) losses.set(session, note.at)
    if (note.what !== 'ended') continue
    const from = committed.get(note.run)
    const lostAt = losses.get(note.session)
    losses.delete(note.session)
    if (from === undefined) continue
    if (lostAt === undefined || lostAt < from) times.quiet.push(((note.at - from) / lease) * heartbeats)
    else if (suspectAt < lostAt - lease) times.lost.push((note.at - lostAt) / lease)
  }
  times.quiet.sort((a, b) => a - b)
  times.lost.sort((a, b) => a - b)
  return times
}

/** The bounds: one heartbeat without a loss; one lease and two looks, of a quarter of a lease each, after one. */
export function lateEnds({ quiet, lost }: EndTimes): string[] {
  const late = [quiet.filter((one) => one > 1).length, lost.filter((one) => one > 1.5).length]
  return [
    ...(late[0] === 0 ? [] : [`${late[0]} of ${quiet.length} ends took more than a heartbeat without a loss`]),
    ...(late[1] === 0 ? [] : [`${late[1]} of ${lost.length} ends took more than a lease and two looks after a loss`]),
  ]
}

export function describeEnds({ quiet, lost }: EndTimes): string {
  const of = (values: number[], unit: string) =>
    values.length === 0
      ? 'none'
      : `${values.length}, median ${at(values, 0.5)}, 99 % ${at(values, 0.99)}, longest ${at(values, 1)} ${unit}`
  return `ends without a loss: ${of(quiet, 'heartbeats')}; after one: ${of(lost, 'leases')}`
}

function at(values: number[], share: number): string {
  return (values[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0).toFixed(2)
}
