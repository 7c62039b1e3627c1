import { messageOf } from '@allium/core'
import { type Span, SpanStatusCode } from '@opentelemetry/api'
import { errorType } from '../error-type.ts'
import { names } from './names.ts'

/** Records an error in a span. Its message is content. */
export function setSpanError(span: Span, error: unknown, content: boolean): void {
  span.setAttribute(names.errorType, errorType(error))
  span.setStatus({ code: SpanStatusCode.ERROR, ...(content && { message: messageOf(error) }) })
}
