import { appendFileSync, readFileSync } from 'node:fs'

/** What processes write down beside the store, in the order in which it happened; ids of steps, calls and writes are unique. */
export type Note =
  /** The work of a step has begun; its journal has it. */
  | { readonly what: 'ran' | 'recorded'; readonly step: string }
  /** Room is asked for, and was given, to the model call of a step; what it has cost is told. */
  | { readonly what: 'holding' | 'held' | 'settled'; readonly step: string }
  /** A physical model call: what it costs, and how it went. */
  | { readonly what: 'asked'; readonly step: string; readonly call: string; readonly cost: number }
  | { readonly what: 'answered' | 'left'; readonly call: string }
  /** The process stops at a place, for ever or until it is told to go on. */
  | { readonly what: 'stopped'; readonly label: string; readonly signal: string }
  /** A process asks the store for runs, and has its answer. */
  | { readonly what: 'claiming' | 'claimed' }
  /** A process has the session, for one of its runs where that is known, under a token that grows. */
  | {
      readonly what: 'taken'
      readonly session: string
      readonly run: string
      readonly token: number
      readonly attempts: number
    }
  /** The event log has the end of a run. */
  | { readonly what: 'ended'; readonly session: string; readonly run: string }
  /** Something is written under a token; the store has taken it. */
  | {
      readonly what: 'writing' | 'written'
      readonly write: string
      readonly session: string
      readonly run: string
      readonly token: number
      readonly op: string
    }

/** With its process, and when it was noted, in milliseconds since the epoch. */
export type Noted = Note & { readonly pid: number; readonly at: number }

export type Noting = (note: Note) => void

export function notingIn(file: string): Noting {
  return (note) => appendFileSync(file, `${JSON.stringify({ ...note, pid: process.pid, at: Date.now() })}\n`)
}

export function notesIn(file: string): Noted[] {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  return lines.map((line) => JSON.parse(line) as Noted)
}
