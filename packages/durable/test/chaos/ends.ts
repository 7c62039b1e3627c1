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

/** A run whose turn is committed and whose end is not in the log. */
interface Committed {
  /** The process that has the run. */
  pid: number
  readonly at: number
  readonly session: string
  lostAt?: number
}

export function endTimes(notes: readonly Noted[], lease: number): EndTimes {
  const times: EndTimes = { quiet: [], lost: [] }
  const open = new Map<string, Committed>()
  const ended = new Set<string>()
  let suspectAt = Number.NEGATIVE_INFINITY
  for (const note of notes) {
    const { at, pid } = note
    const committed = 'run' in note ? open.get(note.run) : undefined
    if (note.what === 'written' && note.op === 'append' && !ended.has(note.run))
      open.set(note.run, { pid, at, session: note.session })
    if (note.what === 'taken' && committed !== undefined) committed.pid = pid
    // Its client has the end, and has started the next run: a process was lost before it could note the end.
    if (note.what === 'taken')
      for (const [run, { session }] of open) if (session === note.session && run !== note.run) open.delete(run)
    // A process that runs a suspected run takes nothing else for a lease.
    if (note.what === 'taken' && note.attempts >= 3) suspectAt = at
    if (note.what === 'stopped') for (const one of open.values()) if (one.pid === pid) one.lostAt = at
    if (note.what !== 'ended' || committed === undefined) continue
    open.delete(note.run)
    // A process that was lost right after that reports the end again, which readers do not receive.
    ended.add(note.run)
    const { lostAt } = committed
    if (lostAt === undefined) times.quiet.push(((at - committed.at) / lease) * heartbeats)
    else if (suspectAt < lostAt - lease) times.lost.push((at - lostAt) / lease)
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
