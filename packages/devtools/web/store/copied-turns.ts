import type { StoredMessage, StoredTurn } from './sessions.ts'

/** The status of a turn that a fork copied. */
export const copied = 'copied'

/** Returns the stored turns, with the history that a fork copied as one turn for each input. Its last turn has the id to fork from. */
export function withCopiedTurns(turns: readonly StoredTurn[]): StoredTurn[] {
  return turns.flatMap((turn) => (turn.turnId.startsWith('fork:') ? piecesOf(turn) : [turn]))
}

function piecesOf(turn: StoredTurn): StoredTurn[] {
  const pieces: StoredMessage[][] = []
  for (const message of turn.messages) {
    const isInput = message.role === 'user' && message.steer === undefined
    const last = pieces.at(-1)
    if (last === undefined || (isInput && last.some(({ role }) => role !== 'user'))) pieces.push([message])
    else last.push(message)
  }
  return pieces.map((messages, index) => ({
    ...turn,
    turnId: index === pieces.length - 1 ? turn.turnId : `${turn.turnId} ${index}`,
    status: copied,
    messages,
    skipped: index === 0 ? turn.skipped : 0,
  }))
}
