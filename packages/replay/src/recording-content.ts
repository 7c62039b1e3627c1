import { toJson } from '@allium/core'
import type { RecordedTurn } from './recorded-turn.ts'
import { recordingText } from './recording-text.ts'

/** The content of a recording, and why its turn cannot be replayed exactly. */
interface Content {
  readonly content: string
  readonly reasons: readonly string[] | undefined
}

/** Returns a recorded turn as JSON text for `fromJson`. Of one that is too large, or not plain data, only the result is left. */
export function contentOf(turn: RecordedTurn, maxBytes: number, scrub?: (text: string) => string): Content {
  const { notReplayable: reasons = [] } = turn
  const content = jsonOf(turn)
  if (content === undefined) return resultOnly(turn, [...reasons, 'a value is not plain data'], scrub)
  if (isLarger(content, maxBytes)) return resultOnly(turn, [...reasons, 'larger than maxBytes'], scrub)
  return { content: scrubbed(content, scrub), reasons }
}

function jsonOf(turn: RecordedTurn): string | undefined {
  try {
    return recordingText(turn)
  } catch {
    return undefined
  }
}

/** Whether a text has more bytes. One character has at most three. */
function isLarger(text: string, maxBytes: number): boolean {
  return text.length * 3 > maxBytes && new TextEncoder().encode(text).length > maxBytes
}

/** The result and the reasons, without contents. */
function resultOnly(turn: RecordedTurn, reasons: readonly string[], scrub?: (text: string) => string): Content {
  const { format, agent, version, startedAt, endedAt, before, result } = turn
  const { status, usage, code } = result
  const left = {
    ...{ format, agent, version, startedAt, endedAt, before },
    ...{ layers: [], requests: [], steps: [], clock: { reads: [] }, decisions: [], task: { options: {} } },
    notReplayable: reasons,
    result: { status, usage, code, answer: null },
  }
  return { content: scrubbed(toJson(left), scrub), reasons }
}

function scrubbed(content: string, scrub: ((text: string) => string) | undefined): string {
  if (scrub === undefined) return content
  let changed = false
  const turn: object = JSON.parse(content, (_key, value: unknown) => {
    if (typeof value !== 'string') return value
    const text = scrub(value)
    changed ||= text !== value
    return text
  })
  return JSON.stringify(changed ? { ...turn, scrubbed: true } : turn)
}
