import type { AnswerItem } from '../store/answer.ts'
import type { ChatTurn } from './chat-turns.ts'

/** A row of the chat: the input of a turn, a part of its answer, or its end. */
export interface ChatRow {
  readonly key: string
  readonly turn: ChatTurn
  readonly part: AnswerItem | 'input' | 'end'
}

export function countRows(turns: readonly ChatTurn[]): number {
  return turns.reduce((count, turn) => count + lengthOf(turn), 0)
}

/** Returns the rows from one index to another, without making the others: a turn may have ten thousand. */
export function rowsBetween(turns: readonly ChatTurn[], from: number, to: number): ChatRow[] {
  const rows: ChatRow[] = []
  let first = 0
  for (const turn of turns) {
    const [start, end] = [Math.max(0, from - first), Math.min(lengthOf(turn), to - first)]
    for (let index = start; index < end; index++) rows.push(rowAt(turn, index))
    first += lengthOf(turn)
  }
  return rows
}

function lengthOf({ answer }: ChatTurn): number {
  return answer.length + 2
}

function rowAt(turn: ChatTurn, index: number): ChatRow {
  const part = index === 0 ? 'input' : (turn.answer[index - 1] ?? 'end')
  return { key: `${turn.turnId} ${index}`, turn, part }
}
