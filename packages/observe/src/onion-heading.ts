import { oneLine } from './one-line.ts'
import type { OnionTurn } from './onion-turn.ts'

/** Returns the turn's number, counted from 1, and its outcome. */
export function headingOf({ turnIndex, sessionId, status, reason, duration }: OnionTurn): string {
  const why = reason === undefined ? '' : `: ${oneLine(reason)}`
  return `Turn ${turnIndex + 1} of the session "${oneLine(sessionId)}", ${status} after ${inMs(duration)}${why}`
}

export function unknownTurn(turnId: string): string {
  return `Nothing is kept of the turn "${oneLine(turnId)}".`
}

export function inMs(duration: number): string {
  return `${duration.toFixed(1)} ms`
}
