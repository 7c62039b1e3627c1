import { AlliumError, fromJson } from '@allium/core'
import { describe, isRecord } from '@allium/core/internal'
import type { RecordedDecision, RecordedTurn } from '../recorded-turn.ts'
import { type Fault, fieldsOf, isNested, isText, isWhole, listOf, optional } from './shape.ts'

/** The size of the largest recording that is read, in characters. Stores keep at most as many bytes. */
const mostCharacters = 1_000_000
const deepest = 200

const decisions = new Set<unknown>([
  ...(['denied', 'suspended', 'blocked', 'aborted', 'failed'] satisfies RecordedDecision['decision'][]),
  ...(['skipped', 'retried', 'recovered'] satisfies RecordedDecision['decision'][]),
])

/**
 * Returns the recorded turn that the content of a recording contains. A recording is read like any input from outside: a field of
 * another type is an error, and so is a text that is too large or nested too deeply. Messages of inputs are checked when they run.
 *
 * @throws AlliumError `recording.invalid` with the path of the field
 */
export function parseRecording(content: unknown): RecordedTurn {
  if (typeof content !== 'string') throw invalid(`is ${describe(content)}, not a text`)
  if (content.length > mostCharacters)
    throw invalid(`has ${content.length} characters, more than the ${mostCharacters} that are read`)
  let value: unknown
  try {
    value = fromJson(content)
  } catch (cause) {
    throw invalid('is not JSON that record() wrote', cause)
  }
  const { format } = (value ?? {}) as { format?: unknown }
  if (isRecord(value) && format !== 1)
    throw invalid(`has the format ${describe(format)}. This version reads the format 1`)
  if (isNested(value, deepest)) throw invalid(`has objects that are nested more than ${deepest} levels deep`)
  const fault = turn(value, 'recording')
  if (fault !== undefined) throw invalid(`has an invalid field ${fault}`)
  return value as RecordedTurn
}

function invalid(what: string, cause?: unknown): AlliumError {
  return new AlliumError(
    'recording.invalid',
    `The recording ${what}. It was left out. Delete it, or record the turn again.`,
    {
      cause,
    },
  )
}

const message = fieldsOf({ role: isText })
const name = fieldsOf({ name: isText })
const moment = { after: isWhole, at: Number.isFinite }
const layer = fieldsOf({ agent: isText, name: isText, options: optional(isRecord) })

const clock = fieldsOf({
  reads: listOf(listOf(Number.isFinite)),
  fired: optional(listOf(fieldsOf({ ...moment, ms: Number.isFinite }))),
})
const posting = fieldsOf({
  ...moment,
  operation: (operation) => operation === 'reserve' || operation === 'settle',
  id: isText,
  account: isText,
  amount: Number.isFinite,
  limit: optional(Number.isFinite),
  balance: optional(fieldsOf({ spent: Number.isFinite, reserved: Number.isFinite })),
})
const before = fieldsOf({
  messages: isWhole,
  version: optional(isWhole),
  snapshot: optional(fieldsOf({ history: listOf(message), state: isRecord })),
})

const step = fieldsOf({
  id: isText,
  at: Number.isFinite,
  layer: optional(isText),
  items: optional(Array.isArray),
  error: optional(fieldsOf({ name: isText, message: isText })),
})

const reference = fieldsOf({ of: (of) => of === 'history' || of === 'before', from: isWhole, count: isWhole })
const written = fieldsOf({ messages: listOf(message) })
const request = fieldsOf({
  turnId: isText,
  call: isWhole,
  attempt: isWhole,
  model: isText,
  messages: listOf((part, at): Fault => (isRecord(part) && 'of' in part ? reference(part, at) : written(part, at))),
  tools: optional(listOf(name)),
})

const decision = fieldsOf({
  turnId: isText,
  layer: optional(isText),
  scope: (scope) => scope === 'turn' || scope === 'model' || scope === 'tool',
  call: optional((call) => isText(call) || isWhole(call)),
  decision: (value) => decisions.has(value),
  reason: optional(isText),
})

const turn = fieldsOf({
  agent: isText,
  version: optional(isText),
  startedAt: Number.isFinite,
  endedAt: Number.isFinite,
  task: fieldsOf({
    options: fieldsOf({
      use: optional(listOf(isText)),
      maxSteps: optional(isWhole),
      clientTools: optional(listOf(name)),
    }),
  }),
  before,
  layers: listOf(layer),
  clock,
  steered: optional(listOf(fieldsOf({ ...moment, message }))),
  abort: optional(fieldsOf({ ...moment, reason: isText, during: listOf(isText) })),
  postings: optional(listOf(posting)),
  requests: listOf(request),
  steps: listOf(step),
  decisions: listOf(decision),
  result: fieldsOf({
    status: isText,
    calls: optional(listOf(fieldsOf({ callId: isText, name: isText, args: isRecord, status: isText }))),
  }),
  notReplayable: optional(listOf(isText)),
})
