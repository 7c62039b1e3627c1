import { AlliumError } from '@allium/core'
import { checkOptions, describe, type KeysOf } from '@allium/core/internal'
import type { OperatedStatus } from '@allium/store'
import type { ListRunsOptions } from './operations.ts'

/** Most characters of a name, a reason or a cursor. */
const maxText = 2000

const statuses: Readonly<Record<OperatedStatus, true>> = {
  queued: true,
  running: true,
  lost: true,
  completed: true,
  stopped: true,
  suspended: true,
  blocked: true,
  aborted: true,
  failed: true,
}

const listKeys: KeysOf<ListRunsOptions> = {
  tenant: true,
  status: true,
  agent: true,
  version: true,
  queue: true,
  owner: true,
  session: true,
  code: true,
  olderThan: true,
  cursor: true,
  limit: true,
}

/** @throws AlliumError `run.options` */
export function checkListOptions(options: ListRunsOptions): void {
  checkOptions(options, listKeys, 'list()', 'run.options')
  const { status, olderThan, limit, ...texts } = options
  if (status !== undefined && !Object.hasOwn(statuses, status))
    throw invalid('status', `one of ${Object.keys(statuses).join(', ')}`, status)
  if (olderThan !== undefined && !(olderThan >= 0)) throw invalid('olderThan', 'milliseconds from 0 on', olderThan)
  for (const [name, value] of Object.entries(texts))
    if (value !== undefined && !(typeof value === 'string' && value.length <= maxText))
      throw invalid(name, `a text of at most ${maxText} characters`, value)
}

/** @throws AlliumError `run.options` if the number is not a whole one from 1 to `max` */
export function bounded(name: string, value: number, max: number): number {
  if (Number.isInteger(value) && value >= 1 && value <= max) return value
  throw invalid(name, `a whole number from 1 to ${max}`, value)
}

/** @throws AlliumError `run.options` if the value is not a text of 1 to 2000 characters */
export function text(name: string, value: unknown): string {
  if (typeof value === 'string' && value.trim() !== '' && value.length <= maxText) return value
  throw invalid(name, `a text of 1 to ${maxText} characters`, value)
}

/** Control characters, lone surrogates and changes of the text direction, with which a record would not show what it says. */
const hidden = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u

/** A text for the audit and for logs. @throws AlliumError `run.options` */
export function plainText(name: string, value: unknown): string {
  const plain = text(name, value)
  if (!hidden.test(plain)) return plain
  throw new AlliumError(
    'run.options',
    `The ${name} must be one line without control characters and changes of the text direction. Remove them.`,
  )
}

export function invalid(name: string, expected: string, value: unknown): AlliumError {
  return new AlliumError('run.options', `The ${name} must be ${expected}, but ${describe(value)} was given.`)
}
