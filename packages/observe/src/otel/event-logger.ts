import { messageOf } from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import { type Attributes, type Context, context } from '@opentelemetry/api'
import { errorType } from '../error-type.ts'
import { attributesOf, type ConventionNames, conventionsOf, type Values } from './conventions.ts'
import type { Conventions, EventKey } from './names.ts'

/** Receives events: a logger of `@opentelemetry/api-logs`, such as `logs.getLogger('my-app')`. */
export interface EventLogger {
  emit(record: {
    eventName: string
    severityNumber?: number
    severityText?: string
    attributes: Attributes
    context: Context
  }): void
}

/** The result of an evaluation of an answer. */
export interface Evaluation {
  /** The name of the metric, such as `relevance`. */
  name: string
  score?: number | undefined
  /** A short label of the score, such as `pass`. */
  label?: string | undefined
  explanation?: string | undefined
  /** The id of the evaluated answer, if its span is not in `traceContext`. */
  responseId?: string | undefined
  /** Why the evaluation failed. */
  error?: unknown
}

export interface EvaluationOptions {
  /** The context with the span of the evaluated answer. @default the active one */
  traceContext?: Context | undefined
  /** The names of the event and its attributes. @default 'latest' */
  names?: ConventionNames | undefined
}

const evaluationKeys: KeysOf<Evaluation> = {
  name: true,
  score: true,
  label: true,
  explanation: true,
  responseId: true,
  error: true,
}
const optionKeys: KeysOf<EvaluationOptions> = { traceContext: true, names: true }

/**
 * Sends the result of an evaluation as the event `gen_ai.evaluation.result`. With the names `1.45` nothing is sent.
 *
 * @throws AlliumError `options.invalid` for an unknown option
 * @example
 * import { logs } from '@opentelemetry/api-logs'
 * recordEvaluation(logs.getLogger('evals'), { name: 'relevance', score: 0.9, label: 'pass' })
 */
export function recordEvaluation(events: EventLogger, evaluation: Evaluation, options: EvaluationOptions = {}): void {
  checkOptions(evaluation, evaluationKeys, 'The evaluation', 'options.invalid')
  checkOptions(options, optionKeys, 'recordEvaluation()', 'options.invalid')
  const { name, score, label, explanation, responseId, error } = evaluation
  const { traceContext = context.active(), names = 'latest' } = options
  const values = { evaluation: name, score, label, explanation, responseId }
  const failure = error === undefined ? {} : { errorType: errorType(error) }
  emit(events, conventionsOf(names), 'evaluation', { ...values, ...failure }, { context: traceContext })
}

/** Sends the exception of a model call. Its message is content. */
export function emitException(
  events: EventLogger,
  error: unknown,
  { conventions, content, context: call }: { conventions: Conventions; content: boolean; context: Context },
): void {
  const values = { exceptionType: errorType(error), exceptionMessage: content ? messageOf(error) : undefined }
  emit(events, conventions, 'exception', values, { context: call, severityNumber: 13, severityText: 'WARN' })
}

function emit(
  events: EventLogger,
  conventions: Conventions,
  key: EventKey,
  values: Values,
  about: { context: Context; severityNumber?: number; severityText?: string },
): void {
  const event = conventions.events[key]
  if (event === undefined) return
  events.emit({ eventName: event.name, attributes: attributesOf(conventions, event.attributes, values), ...about })
}
