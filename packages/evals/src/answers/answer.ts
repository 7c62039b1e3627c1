import { isRecord } from '@allium/core/internal'
import type { RecordedError } from '@allium/shared/recording'

/** One answer of a model: a line of the file. */
export interface RecordedAnswer {
  /** The digest of the request as sent, without secrets. */
  readonly request: string
  /** Counts equal requests of one trial from 0. */
  readonly repeat: number
  /** The case that it was recorded for, if other cases got another answer. */
  readonly case?: string
  /** The trial that it was recorded for, if other trials got another answer. */
  readonly trial?: number
  /** How many trials it answers, if all got the same answer. */
  readonly trials?: number
  readonly model: string
  /** The chunks as the model sent them, as data of `toJson`. */
  readonly chunks: readonly Readonly<Record<string, unknown>>[]
  /** The model's error, after the chunks. */
  readonly error?: RecordedError
}

/** The largest answer that is recorded or read, in characters of its line. */
export const maxAnswer = 1_000_000
export const maxAnswers = 100_000

/** Whether a parsed line is an answer. Files may come from anywhere. */
export function isAnswer(value: unknown): value is RecordedAnswer {
  if (!isRecord(value)) return false
  const { request, repeat, case: id, trial, trials, model, chunks, error } = value
  return (
    isText(request) &&
    isCount(repeat) &&
    isText(model) &&
    (id === undefined || isText(id)) &&
    (trial === undefined ? isCount(trials) : isCount(trial)) &&
    Array.isArray(chunks) &&
    chunks.every((chunk) => isRecord(chunk) && typeof chunk.type === 'string') &&
    (error === undefined || isError(error))
  )
}

function isError(value: unknown): boolean {
  return isRecord(value) && ('thrown' in value || (typeof value.name === 'string' && typeof value.message === 'string'))
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= 500
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
