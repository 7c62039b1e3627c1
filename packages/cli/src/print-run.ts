import { type AgentRun, isAlliumError, messageOf, type RunResult } from 'allium'
import type { CommandContext } from './command-context.ts'
import { printable } from './printable.ts'

/** The result or error of a run, and the ids of its turns: more than one if it was handed off to another agent. */
export type RunOutcome = { turnIds: readonly string[] } & ({ result: RunResult } | { error: unknown })

/** Prints an active run: its text as it arrives, or each event as a line of JSON. */
export async function printRun(run: AgentRun, json: boolean, { stdout, stderr }: CommandContext): Promise<RunOutcome> {
  const turnIds: string[] = []
  let isHandedOff = false
  let isLineOpen = false
  const text = (delta: string) => {
    stdout.write(printable(delta))
    if (delta !== '') isLineOpen = !delta.endsWith('\n')
  }
  try {
    for await (const event of run) {
      const inner = 'path' in event
      const { turnId } = event as { turnId?: string }
      if (!inner && turnId !== undefined && !turnIds.includes(turnId) && (isHandedOff || turnIds.length === 0))
        turnIds.push(turnId)
      if (!inner && event.type === 'tools:handoff') isHandedOff = true
      if (json) stdout.write(`${toLine(event)}\n`)
      else if (event.type === 'text-delta' && !inner) text(event.delta)
      else if (event.type === 'step:end' && isLineOpen) text('\n')
      else if (event.type === 'model:reset' && isLineOpen) {
        text('\n')
        stderr.write('The answer begins again:\n')
      }
    }
    const result = await run
    if (json) stdout.write(`${toLine(resultLine(result))}\n`)
    else if (isLineOpen) text('\n')
    return { turnIds, result }
  } catch (error) {
    if (!json && isLineOpen) text('\n')
    return { turnIds, error }
  }
}

/** Returns a line that reports how a turn without an answer ended. */
export function statusLine({ status, reason }: Pick<RunResult, 'status' | 'reason'>): string {
  return `The turn was ${status}${reason === undefined || reason === '' ? '.' : `: ${reason}`}`
}

/** Returns one line of JSON: bytes as base64, errors by their public fields. Escapes characters that control a terminal. */
export function toLine(event: object): string {
  const text = JSON.stringify(event, (_key, value: unknown) => {
    if (value instanceof Error) return errorFields(value)
    return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value
  })
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, escaped)
}

/** Escapes a character as in JSON: a character above U+FFFF becomes two escapes. */
function escaped(char: string): string {
  return Array.from({ length: char.length }, (_, i) => `\\u${char.charCodeAt(i).toString(16).padStart(4, '0')}`).join(
    '',
  )
}

export function errorFields(error: unknown): { code?: string; message: string } {
  return { ...(isAlliumError(error) && { code: error.code }), message: messageOf(error) }
}

function resultLine({ status, reason, text, usage, pending, turnId, sessionId }: RunResult): object {
  return { type: 'result', status, reason, text, usage, pending, turnId, sessionId }
}
