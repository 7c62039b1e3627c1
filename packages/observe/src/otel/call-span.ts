import type { TurnView } from '@allium/core'
import type { Context, Span } from '@opentelemetry/api'
import { decisionOfError } from '../failure.ts'
import { ignoreErrors } from '../ignore-errors.ts'
import { watchCall } from '../watch-call.ts'
import { alliumNames, type Values } from './conventions.ts'
import { setSpanError } from './span-error.ts'
import {
  type OpenSpan,
  replayAttributes,
  runInSpan,
  type SpanSettings,
  type SpanStart,
  type TurnSpans,
} from './turn-spans.ts'

/** The span of a call, from before the provider or the tool runs until it has ended. */
export abstract class CallSpan<Result> implements OpenSpan {
  readonly span: Span
  readonly context: Context
  protected readonly settings: SpanSettings
  readonly #ctx: TurnView
  readonly #turns: TurnSpans
  readonly #start: SpanStart

  constructor(ctx: TurnView, turns: TurnSpans, start: SpanStart) {
    const { span, context } = turns.startCall(ctx, start)
    this.span = span
    this.context = context
    this.settings = turns.settings
    this.#ctx = ctx
    this.#turns = turns
    this.#start = start
  }

  /** Records the result of the call. */
  abstract returned(result: Result): void

  /** Records the error of the call. An abort or a block is an outcome, not an error. */
  failed(error: unknown): void {
    const status = decisionOfError(error)
    this.span.setAttribute(alliumNames.status, status)
    if (status === 'failed') setSpanError(this.span, error, this.settings)
  }

  /** Ends the span, later if a price has to be found. */
  end(): Promise<void> | undefined {
    this.span.setAttributes(replayAttributes(this.#ctx)).end()
    return undefined
  }

  protected set(values: Values): void {
    this.#turns.set(this, this.#start.span, values)
  }
}

/** Runs a call in its span. Errors of the tracing are ignored. */
export async function traceCall<Result>(start: () => CallSpan<Result>, next: () => Promise<Result>): Promise<Result> {
  const span = ignoreErrors(start)
  const inSpan = () => runInSpan(span, next)
  try {
    return await watchCall(inSpan, {
      onResult: (result) => span?.returned(result),
      onError: (error) => span?.failed(error),
    })
  } finally {
    const ending = ignoreErrors(() => span?.end())
    if (ending !== undefined) await ending.catch(() => {})
  }
}
